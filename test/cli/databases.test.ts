import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { chooseDatabase } from "../../adapters/cli/database/choose.ts";
import { explained } from "../../adapters/cli/failures.ts";
import { MessagingEngine, TidingsError } from "../../adapters/entry.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { Policy } from "../../src/ports/policy.ts";
import { Frames } from "../support/postgres/frames.ts";
import { connectTo } from "../support/postgres/proxy.ts";
import { database } from "../support/postgres/test-database.ts";
import { cases, longTest } from "../support/runs.ts";
import { dev, finished, scratch } from "./tidings.ts";

/** Runs statements on a SQLite file. */
function onFile(file: string, sql: string): void {
  const handle = new DatabaseSync(file);
  handle.exec(sql);
  handle.close();
}

describe("a file that cannot be used", () => {
  const unusable: [what: string, prepare: (folder: string) => void][] = [
    ["a text", (folder) => writeFileSync(join(folder, "tidings.db"), "Dear diary,")],
    ["a folder", (folder) => mkdirSync(join(folder, "tidings.db"))],
  ];
  test.each(cases(unusable, ([what]) => what === "a text"))(
    "%s is refused by every command and not changed",
    async (what, prepare) => {
      const folder = await scratch();
      prepare(folder);
      const reason = what === "a folder" ? "is a folder, and a file" : "is not a SQLite database.";
      const { status, errors } = await finished(folder, "dev", "--port", "0");
      expect(status).toBe(1);
      expect(errors).toContain(reason);
      const file = join(folder, "tidings.db");
      for (const mayCreate of [true, false]) {
        expect(() => chooseDatabase({ file }, { usage: "", mayCreate })).toThrow(reason);
      }
      expect(readdirSync(folder)).toEqual(["tidings.db"]);
      if (what === "a text") {
        expect(readFileSync(join(folder, "tidings.db"), "utf8")).toBe("Dear diary,");
      }
    },
  );

  test("a file that does not exist is made by dev and migrate alone", async () => {
    const folder = await scratch();
    const { status, errors } = await finished(folder, "keys", "list");
    const other = await finished(folder, "doctor", "--file", "other.db");
    await finished(folder, "migrate", "--sql");
    expect(readdirSync(folder)).toEqual([]);
    expect(status).toBe(1);
    expect(errors).toMatch(
      /^Error: There is no file .*tidings\.db\.\n +To create it: +tidings dev\n/,
    );
    expect(other.output + other.errors).toMatch(/To create it: +tidings dev --file other\.db\n/);
  });

  longTest("a folder that is missing or not writable is named", async () => {
    const folder = await scratch();
    const missing = await finished(folder, "dev", "--port", "0", "--file", "data/app.db");
    expect(missing.status).toBe(1);
    expect(missing.errors).toMatch(/^Error: The folder .*data does not exist\.\n +Create it first/);
    // The kernel's files are not writable for anyone.
    const unwritable = await finished(folder, "dev", "--port", "0", "--file", "/proc/app.db");
    expect(unwritable.status).toBe(1);
    expect(unwritable.errors).toMatch(
      /not writable|cannot be opened: .*The file is \/proc\/app\.db/,
    );
  });

  test("damage is named by every command, with what to do", async () => {
    const folder = await scratch();
    await finished(folder, "migrate");
    // The first page stays whole, so the file can still be opened.
    truncateSync(join(folder, "tidings.db"), 5 * 4_096);
    for (const command of [["doctor"], ["migrate"], ["keys", "list"]]) {
      const { status, output, errors } = await finished(folder, ...command);
      expect(status).toBe(1);
      expect(output + errors).toMatch(
        /The database file \/.*tidings\.db is damaged.*\n +Stop every process/,
      );
    }
  });

  longTest("a newer schema is refused, with what to do", async () => {
    const folder = await scratch();
    await finished(folder, "migrate");
    onFile(join(folder, "tidings.db"), "UPDATE tidings_schema SET version = 999");
    const results = await Promise.all([
      finished(folder, "dev", "--port", "0"),
      finished(folder, "doctor"),
    ]);
    for (const { status, output, errors } of results) {
      expect(status).toBe(1);
      expect(output + errors).toMatch(/schema version 999.*\n.*newer version of tidings/);
    }
  });
});

test("an outdated database is migrated by migrate, and the SQL that it prints does the same", async () => {
  const folder = await scratch();
  const { status, output } = await finished(folder, "migrate", "--sql");
  expect(status).toBe(0);
  onFile(join(folder, "printed.db"), "CREATE TABLE mine (a)");
  const before = await finished(folder, "keys", "list", "--file", "printed.db");
  expect(before.errors).toMatch(
    /schema version 0.*\n +To migrate it, with the same options: +tidings migrate/,
  );
  onFile(join(folder, "printed.db"), output);
  const ready = await finished(folder, "keys", "list", "--file", "printed.db");
  expect(ready).toMatchObject({ status: 0 });
  expect(ready.errors).toMatch(/^There are no keys in this account and mode yet/);

  expect((await finished(folder, "migrate")).errors).toMatch(
    /^Migrated tidings\.db from .* 0 to \d+/,
  );
  expect((await finished(folder, "migrate")).errors).toMatch(/Nothing to do\.\n$/);
  expect(await finished(folder, "migrate", "--sql")).toMatchObject({ status: 0, output: "" });
});

test("a read waits for another process that has the file locked for a moment", async () => {
  const file = join(await scratch(), "tidings.db");
  onFile(file, "PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (7)");
  // A process that recovers or removes the log, at its start or its end, locks the file like this.
  const lock = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { DatabaseSync } = require("node:sqlite");
    const handle = new DatabaseSync(workerData);
    handle.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE t SET n = 8; COMMIT");
    parentPort.postMessage("locked");
    setTimeout(() => handle.close(), 100);
  `;
  const worker = new Worker(lock, { eval: true, workerData: file });
  await once(worker, "message");

  const { query } = chooseDatabase({ file }, { usage: "", mayCreate: false });
  expect(await query("SELECT n FROM t")).toEqual([[8]]);
  await once(worker, "exit");
});

longTest("the doctor says that another process has the file locked", async () => {
  const folder = await scratch();
  await finished(folder, "migrate");
  const other = new DatabaseSync(join(folder, "tidings.db"));
  onTestFinished(() => other.close());
  for (const lock of [
    "BEGIN IMMEDIATE",
    "ROLLBACK; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
  ]) {
    other.exec(lock);
    const { status, output } = await finished(folder, "doctor");
    expect(status).toBe(1);
    expect(output).toMatch(/✗ Database +The database is locked: .* another process writes/);
    expect(output).not.toMatch(/tidings doctor/);
  }
});

test("the doctor finds work that nobody does and times in the future", async () => {
  const folder = await scratch();
  const file = join(folder, "tidings.db");
  const server = await dev(folder);
  await server.post("/messages", { to: "+15005550001", body: "Hello" });
  await server.printed(/message\.sent/);
  await server.interrupt();
  const fine = await finished(folder, "doctor");
  expect(fine).toMatchObject({ status: 0, errors: "" });
  expect(fine.output).toMatch(/✓ Node +\d.*\n✓ Clock .*\n✓ Database .*tidings\.db is readable/);
  expect(fine.output).toMatch(/✓ Transports +sandbox \(sandbox, 1 sender\)/);
  expect(fine.output).toMatch(/\nNothing is wrong\.\n$/);

  const hourAhead = Date.now() + 3_600_000;
  onFile(
    file,
    `UPDATE tidings_events SET created_at = ${hourAhead};
     INSERT INTO tidings_jobs (kind, key, pool, lane, due_at, leased, fence, failures, version)
       VALUES ('wake', 'x', 'work', 'x', 1000, 0, 0, 0, 1),
         -- An engine crashed while it ran this one.
         ('wake', 'y', 'work', 'x', 2000, 1, 0, 0, 1)`,
  );
  const ill = await finished(folder, "doctor");
  expect(ill.status).toBe(1);
  expect(ill.output).toMatch(
    /✗ Times +the newest event is 3[56]\d\d s in the future\n +This clock/,
  );
  expect(ill.output).toMatch(/! Work +2 jobs are overdue, the first since 1970-[^]*tidings dev/);
  expect(ill.output).toMatch(/\nProblems: 1\. Possible problems: 1\.\n$/);

  const empty = await finished(await scratch(), "doctor");
  expect(empty.status).toBe(0);
  expect(empty.output).toMatch(/\n! Database [^]*\nPossible problems: 1\.\n$/);
});

test("a command whose database cannot be reached names the doctor, and the doctor not itself", async () => {
  const url = "postgres://127.0.0.1:1/x";
  const listed = await finished(await scratch(), "keys", "list", "--database", url);
  expect(listed.errors).toMatch(/\n +To find out why, with the same options: +tidings doctor\n$/);
  const lost = new TidingsError("storage_unavailable", "The connection was lost.");
  expect(explained(lost)).toMatchObject({ message: "The connection was lost.", advice: [] });
  expect(explained(new Error("Oops"))).toMatchObject({ message: "Oops", advice: [] });
});

test("the doctor tells a backlog that an engine works on from work that nobody does", async () => {
  const folder = await scratch();
  await finished(folder, "migrate");
  const file = join(folder, "tidings.db");
  const jobs = (rows: string): string =>
    "INSERT INTO tidings_jobs (kind, key, pool, lane, due_at, leased, fence, failures, version) " +
    `VALUES ${rows}`;
  const leasedUntil = Date.now() + 60_000;
  onFile(
    file,
    jobs(`('send', 'a', 'work', 'x', ${leasedUntil}, 1, 0, 0, 1),
      ('send', 'b', 'work', 'x', 1000, 0, 0, 0, 1)`),
  );
  const busy = await finished(folder, "doctor");
  expect(busy.output).toMatch(/✓ Work +no overdue job waits for an engine\n/);

  onFile(file, jobs("('turn', 'c', 'turns', 'x', 1000, 0, 0, 0, 1)"));
  const partly = await finished(folder, "doctor");
  expect(partly.output).toMatch(/! Work +1 job is overdue, the first since 1970-/);
});

test("the doctor says which engines lack a policy or a transport that others have", async () => {
  const folder = await scratch();
  await finished(folder, "migrate");
  const engine = (policies: readonly Policy[]): MessagingEngine => {
    const storage = sqlite({ file: join(folder, "tidings.db") });
    const made = new MessagingEngine({ storage, transports: [sandbox()], policies });
    onTestFinished(() => made.stop());
    return made;
  };
  const [one, two] = [engine([]), engine([])];
  await Promise.all([one.start(), two.start()]);
  expect((await finished(folder, "doctor")).output).toMatch(/✓ Engines +2 engines are started\n/);
  await two.stop();
  expect((await finished(folder, "doctor")).output).toMatch(/✓ Engines +1 engine is started\n/);

  await engine([{ name: "night_rest", evaluate: () => ({ verdict: "allow" }) }]).start();
  const { status, output } = await finished(folder, "doctor");
  expect(status).toBe(0);
  expect(output).toMatch(
    /! Engines +2 engines are started, with different options\n +Missing in the one started at 20\S+Z: policies: night_rest\n/,
  );
});

test("the doctor compares much overdue work with much planned work in one pass", async () => {
  const folder = await scratch();
  await finished(folder, "migrate");
  const jobs = (kind: string, count: number, firstDueAt: number): string =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO tidings_jobs (kind, key, pool, lane, due_at, leased, fence, failures, version)
       SELECT '${kind}', i, 'work', 'x', ${firstDueAt} + i, 0, 0, 0, 1 FROM n;`;
  onFile(
    join(folder, "tidings.db"),
    jobs("send", 20_000, 1_000) + jobs("release", 50_000, Date.now() + 3_600_000),
  );
  const { output } = await finished(folder, "doctor");
  expect(output).toMatch(/! Work +20000 jobs are overdue/);
});

test("on PostgreSQL, keys, migrate and doctor work with the project's own pg", async () => {
  // The package `pg` is looked for in the folder of the project, and then beside this package.
  const folder = await scratch();
  const { url } = await database();
  const on = ["--database", url, "--schema", "messaging"];
  expect((await finished(folder, "migrate", ...on)).status).toBe(0);
  const { output } = await finished(folder, "keys", "create", "--live", ...on);
  expect(output).toMatch(/^tdg_live_\w+\n$/);
  expect((await finished(folder, "keys", "list", "--live", ...on)).output).toContain(" CLI ");
  const healthy = await finished(folder, "doctor", ...on);
  expect(healthy.output).toMatch(
    /✓ Database +postgres.*\n✓ Engines +no engine is started\n✓ Times/,
  );
  expect(healthy.status).toBe(0);
});

longTest(
  "on PostgreSQL, an outdated schema and a server that cannot be reached are told",
  async () => {
    const folder = await scratch();
    const { url } = await database();
    const on = ["--database", url, "--schema", "messaging"];
    const outdated = await finished(folder, "keys", "list", ...on);
    expect(outdated.errors).toMatch(/schema version 0.*\n +To migrate it/);
    expect((await finished(folder, "migrate", "--sql", ...on)).output).toContain("messaging");
    expect((await finished(folder, "migrate", ...on)).status).toBe(0);

    const nowhere = ["--database", "postgres://kim:secret@127.0.0.1:1/x"];
    const why = await finished(folder, "doctor", ...nowhere);
    expect(why.status).toBe(1);
    expect(why.output).toContain(
      "postgres://kim@127.0.0.1:1/x cannot be reached: connect ECONNREF",
    );
  },
);

longTest(
  "on PostgreSQL, a role that may not connect and a statement that fails are told apart",
  async () => {
    const folder = await scratch();
    const { url } = await database();
    expect((await finished(folder, "migrate", "--database", url)).status).toBe(0);
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    onTestFinished(() => admin.end());
    const slow = new URL(url);
    slow.searchParams.set("options", "-c statement_timeout=200");
    await admin.query("BEGIN; LOCK TABLE tidings_schema");
    const late = await finished(folder, "migrate", "--database", slow.href);
    await admin.query("ROLLBACK");
    expect(late.errors).toContain("statement timeout");
    expect(late.errors).not.toContain("cannot be reached");

    const named = await admin.query<{ name: string }>("SELECT current_database() AS name");
    const role = `stranger_${process.pid}_${Date.now()}`;
    await admin.query(`CREATE ROLE ${role} LOGIN`);
    onTestFinished(async () => void (await admin.query(`DROP ROLE ${role}`)));
    await admin.query(`REVOKE CONNECT ON DATABASE "${named.rows[0]?.name}" FROM PUBLIC`);
    const own = new URL(url);
    own.username = role;
    const refused = await finished(folder, "doctor", "--database", own.href);
    expect(refused.output).toMatch(/cannot be reached: permission denied for database/);
  },
);

/** A server that writes its errors in German, as one does whose `lc_messages` says so. */
async function germanServer(url: string): Promise<string> {
  const german = new Map([
    ["S", "FEHLER"],
    ["M", "Relation existiert nicht"],
  ]);
  const server = createServer((client) => {
    const real = connectTo(new URL(url));
    const frames = new Frames({ startup: false });
    client.pipe(real).on("error", () => client.destroy());
    real.on("close", () => client.destroy());
    real.on("data", (chunk) => {
      for (const { type, bytes } of frames.push(chunk)) {
        client.write(type === "E" ? withFields(bytes, german) : bytes);
      }
    });
    client.on("error", () => real.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const own = new URL(url);
  own.searchParams.delete("host");
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as AddressInfo).port);
  return own.href;
}

/** Replaces fields of an ErrorResponse: each is a letter and a text that ends with NUL. */
function withFields(error: Buffer, texts: ReadonlyMap<string, string>): Buffer {
  const fields = error
    .subarray(5)
    .toString()
    .split("\0")
    .filter((field) => field !== "");
  const replaced = fields.map((field) => {
    const [kind = ""] = field;
    return `${kind}${texts.get(kind) ?? field.slice(1)}\0`;
  });
  const body = Buffer.from(`${replaced.join("")}\0`);
  const head = Buffer.from("E....");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

longTest(
  "on PostgreSQL, migrate also works if the server's errors are not in English",
  async () => {
    const folder = await scratch();
    const { url } = await database();
    const on = ["--database", await germanServer(url), "--schema", "messaging"];
    expect(await finished(folder, "migrate", ...on)).toMatchObject({
      status: 0,
      errors: expect.stringMatching(/from schema version 0 to /),
    });
  },
);
