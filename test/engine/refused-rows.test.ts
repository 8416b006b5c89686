/** Rows that a constraint or a trigger of the host application refuses. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { TidingsError } from "../../src/kernel/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { temporaryFile } from "../adapters/storage/sqlite/files.ts";
import { world } from "../support/engines/world.ts";
import { database } from "../support/postgres/test-database.ts";

interface Case {
  readonly name: string;
  /** A storage, and a function that runs SQL on its database. */
  readonly make: () => Promise<{ storage: StoragePort; run: (sql: string) => Promise<void> }>;
  /** A trigger that refuses contacts named Nobody. */
  readonly trigger: string;
}

const cases: readonly Case[] = [
  {
    name: "SQLite",
    async make() {
      const file = await temporaryFile();
      const run = async (sql: string): Promise<void> => {
        using handle = new DatabaseSync(file);
        handle.exec(sql);
      };
      return { storage: sqlite({ file }), run };
    },
    trigger:
      "CREATE TRIGGER no BEFORE INSERT ON tidings_contacts WHEN new.name = 'Nobody' " +
      "BEGIN SELECT RAISE(ABORT, 'no such name'); END",
  },
  {
    name: "PostgreSQL",
    async make() {
      const pool = (await database()).pool();
      return { storage: postgres({ pool }), run: async (sql) => void (await pool.query(sql)) };
    },
    trigger:
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
      "IF new.name = 'Nobody' THEN RAISE 'no such name'; END IF; RETURN new; END $$; " +
      "CREATE TRIGGER no BEFORE INSERT ON tidings_contacts FOR EACH ROW EXECUTE FUNCTION refuse()",
  },
];

describe.each(cases)("a row that a trigger on $name refuses", ({ make, trigger }) => {
  it("fails its command alone, with an error of the engine that names the cause", async () => {
    const { storage, run } = await make();
    const one = world().engine(storage);
    await one.migrate();
    await run(trigger);
    const [ann, nobody, bob] = await Promise.allSettled(
      ["Ann", "Nobody", "Bob"].map((name) => one.contacts.create({ name })),
    );
    expect([ann?.status, bob?.status]).toEqual(["fulfilled", "fulfilled"]);
    const error: unknown = nobody?.status === "rejected" ? nobody.reason : undefined;
    expect(error).toBeInstanceOf(TidingsError);
    expect(error).toMatchObject({
      code: "internal",
      retryable: false,
      message: expect.stringContaining("refused a row") as unknown,
      cause: { cause: { message: "no such name" } },
    });
  });

  it("fails its row of an import, and no other", async () => {
    const { storage, run } = await make();
    const one = world().engine(storage);
    await one.migrate();
    await run(trigger);
    const rows = ["Ann", "Nobody", "Bob"].map((name, n) => ({ name, phone: `+1212555010${n}` }));
    const statuses: string[] = [];
    for await (const { status } of one.contacts.import(rows)) statuses.push(status);
    expect(statuses).toEqual(["created", "failed", "created"]);
  });
});
