import pg from "pg";
import { describe, expect, it } from "vitest";
import { postgres, type PostgresOptions } from "../../../../../adapters/storage/postgres/index.ts";
import { TidingsError } from "../../../../../src/kernel/errors.ts";
import { StorageConflict, StorageRefusal } from "../../../../../src/ports/storage.ts";
import { database } from "../../../../support/postgres/test-database.ts";
import { longTest } from "../../../../support/runs.ts";
import { firstSchema, insertNote, noteById, notes } from "../../notes.ts";
import { says, write } from "../../port.ts";
import { opened, unavailable } from "./opened.ts";

describe("when the PostgreSQL server refuses", () => {
  it.each([
    ["53100", /disk .* is full/],
    ["53200", /out of memory/],
    ["53300", /too many connections/],
    ["25006", /read-only/],
    ["57014", /canceled/],
    ["26000", /pooler such as PgBouncer has to run in session mode/],
    ["XX000", /see the cause/],
  ])("with %s, the error says why, and nothing is committed", async (state, words) => {
    const where = await database();
    const pool = where.pool({ max: 2 });
    const port = await opened(pool);
    await raising(pool, state);
    const error: unknown = await write(port, insertNote("a"), insertNote("b")).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ ...unavailable(words), cause: { code: state } });
    await pool.query("DROP TRIGGER host ON tidings_notes");
    expect(await notes(port)).toEqual([]);
    await write(port, insertNote("a"));
  });

  it.each([
    ["28000", /refused the connection.* TLS/],
    ["28P01", /refused the connection.* password/],
    ["3D000", /refused the connection: the database/],
    ["3F000", /lacks tables/],
    ["42501", /privilege/],
    ["42P01", /lacks tables/],
  ])("with %s, a retry does not help", async (state, words) => {
    const where = await database();
    const pool = where.pool({ max: 2 });
    const port = await opened(pool);
    await raising(pool, state);
    await expect(write(port, insertNote("a"))).rejects.toMatchObject({
      ...unavailable(words),
      retryable: false,
      cause: { code: state },
    });
  });

  it("an unknown database, the error names the server and the database, but no user and password", async () => {
    const where = await database();
    const url = where.url.replace(where.name, "no_such%20one");
    const error: unknown = await postgres({ pool: where.pool({ connectionString: url }) })
      .open(firstSchema)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "storage_unavailable",
      retryable: false,
      message: says(/refused the connection: .* The database is no_such one at [^@]+\.$/),
      cause: { code: "3D000" },
    });
  });

  it("every connection, the error names what the options of the pool name", async () => {
    const refused = (options: NonNullable<PostgresOptions["pool"]["options"]>): Promise<string> => {
      const connect = (): Promise<never> => Promise.reject(new Error("connect ECONNREFUSED"));
      return postgres({ pool: { options, connect } })
        .open(firstSchema)
        .then(
          () => "opened",
          (error: unknown) =>
            error instanceof TidingsError
              ? `${error.message}${error.retryable ? " Retry." : ""}`
              : String(error),
        );
    };
    const lost = "The connection to the PostgreSQL server failed or was lost.";
    expect(await refused({})).toBe(`${lost} Retry.`);
    const secret = { user: "anna", password: "secret" };
    const options = { ...secret, host: "db.example", port: 5433, database: "shop" };
    expect(await refused(options)).toBe(`${lost} The database is shop at db.example:5433. Retry.`);
    const connectionString = "postgresql://anna:secret@db.example/shop?password=secret";
    expect(await refused({ connectionString })).toBe(
      `${lost} The database is shop at db.example. Retry.`,
    );
    expect(await refused({ connectionString: "anna:secret" })).not.toContain("secret");
  });

  it("nothing, but pg cannot read its certificate, the error is one of the storage", async () => {
    const connectionString = "postgresql://db.example/shop?sslrootcert=/no/such/file";
    const port = postgres({ pool: new pg.Pool({ connectionString }) });
    await expect(port.open(firstSchema)).rejects.toMatchObject({
      ...unavailable(/connection/),
      cause: { code: "ENOENT" },
    });
  });

  it.each(["40001", "40P01", "55P03"])("with %s, the group is rerun", async (state) => {
    const where = await database();
    const pool = where.pool();
    const port = await opened(pool);
    await raising(pool, state);
    await expect(write(port, insertNote("a"))).rejects.toThrow(StorageConflict);
  });

  it.each(["P0001", "23514", "22003"])(
    "with %s, a rule of the host application, the write fails permanently",
    async (state) => {
      const where = await database();
      const pool = where.pool();
      const port = await opened(pool);
      await raising(pool, state);
      await expect(write(port, insertNote("a"))).rejects.toThrow(StorageRefusal);
    },
  );

  longTest("because of a timeout, the error says so, and the next write works", async () => {
    const where = await database();
    const port = await opened(where.pool({ statement_timeout: 1_000 }));
    await write(port, insertNote("a"));
    const host = await where.pool().connect();
    await host.query("BEGIN; LOCK TABLE tidings_notes");
    await expect(notes(port)).rejects.toMatchObject({
      ...unavailable(/longer than its timeout/),
      cause: { code: "57014" },
    });
    await host.query("ROLLBACK");
    host.release();
    expect(await notes(port)).toEqual(["a"]);
  });

  it("to write, reads work, and a migration fails with the reason", async () => {
    const where = await database();
    const before = await opened(where.pool());
    await write(before, insertNote("a"));
    const readOnly = where.pool({ options: "-c default_transaction_read_only=on" });
    const port = await opened(readOnly);
    expect(await notes(port)).toEqual(["a"]);
    await expect(write(port, insertNote("b"))).rejects.toMatchObject(unavailable(/read-only/));
    const empty = (await database()).pool({ options: "-c default_transaction_read_only=on" });
    await expect(postgres({ pool: empty }).open(firstSchema)).rejects.toMatchObject(
      unavailable(/read-only/),
    );
  });

  it("prepared statements that the host application discarded, they are prepared again", async () => {
    const where = await database();
    const pool = where.pool({ max: 2 });
    const port = await opened(pool);
    await write(port, insertNote("a"));
    await pool.query("DEALLOCATE ALL");
    expect(await notes(port)).toEqual(["a"]);
    await pool.query("DISCARD ALL");
    await write(port, insertNote("b"));
    expect(await notes(port)).toEqual(["a", "b"]);
  });

  it("prepared statements that the host application discarded, transactions prepare them again too", async () => {
    const where = await database();
    const pool = where.pool({ max: 2 });
    const port = await opened(pool);
    const lookups = [{ index: noteById, key: ["a"], limit: 1 }];
    const uses: Record<string, (id: string) => Promise<unknown>> = {
      "an exclusive group": async (id) => {
        const group = port.begin("exclusive");
        try {
          await Promise.all([group.read(lookups), group.read(lookups)]);
          await group.commit([insertNote(id)]);
        } finally {
          await group.abort();
        }
      },
      "engine.transaction": (id) =>
        port.transaction(async (handle) => {
          await port.host(handle).read(lookups);
          await port.host(handle).commit([insertNote(id)]);
        }),
      "the host application's transaction": async (id) => {
        const client = await pool.connect();
        try {
          await client.query("BEGIN");
          await port.host(client).commit([insertNote(id)]);
          await client.query("COMMIT");
        } finally {
          client.release();
        }
      },
      "a second start": () => port.migrate(firstSchema),
    };
    for (const [name, use] of Object.entries(uses)) {
      // The first use prepares the statements, and the others find them discarded.
      const results: unknown[] = [];
      for (const how of ["DISCARD ALL", "DEALLOCATE ALL", "DISCARD ALL"]) {
        results.push(await use(`${name}, ${results.length}`).then(() => "done", String));
        await pool.query(how);
      }
      expect(results, name).toEqual(["done", "done", "done"]);
    }
    expect(await notes(port)).toHaveLength(9);
  });

  /** Raises an error at an insertion, as the server would. */
  async function raising(pool: pg.Pool, state: string): Promise<void> {
    await pool.query(`
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'no' USING ERRCODE = '${state}'; END $$;
      CREATE TRIGGER host BEFORE INSERT ON tidings_notes FOR EACH ROW EXECUTE FUNCTION fail();`);
  }
});

it("transactions run at READ COMMITTED, whatever the database's default isolation level is", async () => {
  const where = await database();
  for (const level of ["serializable", "repeatable read"]) {
    const pool = where.pool({
      options: `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`,
    });
    const [one, two] = [await opened(pool), await opened(pool)];
    const group = one.begin();
    await group.read([{ index: noteById, key: [level], limit: 1 }]);
    await write(two, insertNote(`${level} two`));
    await group.commit([insertNote(`${level} one`)]);
    await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        write(i % 2 === 0 ? one : two, insertNote(`${level} ${i}`)),
      ),
    );
    const request = { key: level, limit: 1_000, window: 60_000 };
    for (let i = 0; i < 20; i++) await Promise.all([one.admit([request]), two.admit([request])]);
  }
  expect(await notes(await opened(where.pool()))).toHaveLength(24);
});
