/** The checks of a database: can it be opened, and does its content fit this machine. */
import { existsSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { MessagingEngine } from "../../entry.ts";
import { sandbox } from "../../transport/sandbox/index.ts";
import { chooseDatabase, type DatabaseChoice } from "../database/choose.ts";
import { schemaVersion, type Database } from "../database/database.ts";
import { defaultFile } from "../database/sqlite.ts";
import { explained, Failure } from "../failures.ts";
import { checkEngines } from "./engine-checks.ts";
import type { Finding } from "./finding.ts";

/** Checks the database that the options name. Later checks need the earlier ones to pass. */
export async function* checkDatabase(
  choice: DatabaseChoice,
  usage: string,
): AsyncGenerator<Finding, void> {
  const file = choice.database === undefined ? (choice.file ?? defaultFile) : undefined;
  if (file !== undefined && choice.file === undefined && !existsSync(file)) {
    yield {
      level: "doubtful",
      topic: "Database",
      text: `there is no ${file} in this folder yet`,
      advice: ["To create it:       tidings dev", "To check another:   --file or --database"],
    };
    return;
  }
  let database: Database | undefined;
  try {
    database = chooseDatabase(choice, { usage, mayCreate: false });
    yield* checksOf(database);
  } catch (error) {
    if (!(error instanceof Failure) && database === undefined) throw error;
    const { message, advice } = explained(error);
    yield { level: "wrong", topic: "Database", text: message, advice };
  } finally {
    await database?.close();
  }
}

async function* checksOf(database: Database): AsyncGenerator<Finding, void> {
  yield* checkOpen(database);
  yield await checkTimes(database);
  yield await checkTransports(database);
  yield await checkWork(database);
}

/** The checks that need the database to be open. */
async function* checkOpen(database: Database): AsyncGenerator<Finding, void> {
  const storage = database.storage({ migrate: false });
  const engine = new MessagingEngine({ storage, transports: [sandbox()] });
  try {
    yield await checkOpening(database, engine);
    yield await checkEngines(database, storage);
  } finally {
    await engine.stop();
  }
}

/** Opens the database as an engine does, which also looks for damage, and commits. */
async function checkOpening(database: Database, engine: MessagingEngine): Promise<Finding> {
  const version = await schemaVersion(database);
  // Reports why it cannot be opened. `health` only says that it cannot.
  await engine.account().get();
  // Waits for the lock of a SQLite file as long as each command does, and names it. `health`
  // waits for less time.
  await engine.transaction(async () => {});
  const { status, reasons } = await engine.health();
  if (status !== "ok") throw new Failure(reasons.map(({ message }) => message).join(" "));
  const size = database.file === undefined ? "" : `, ${sizeOf(database.file)}`;
  const text = `${database.name} is readable and writable, schema version ${version}${size}`;
  return { level: "good", topic: "Database", text };
}

function sizeOf(file: string): string {
  return `${(statSync(file).size / 1_000_000).toFixed(1)} MB`;
}

/** How far two clocks may be apart, in milliseconds. */
const toleranceMs = 2_000;

/** Compares this machine's clock with the server's, and with the newest event. */
async function checkTimes(database: Database): Promise<Finding> {
  if (database.file === undefined) {
    const before = Date.now();
    const ahead = (await numberFrom(database, serverTime)) - before;
    if (Math.abs(ahead) > toleranceMs + (Date.now() - before)) {
      const text = `the database server's clock is ${seconds(ahead)} from this machine's`;
      return { level: "wrong", topic: "Times", text, advice: ["Synchronize both with NTP."] };
    }
  }
  const newest = await numberFrom(
    database,
    `SELECT max(created_at) FROM ${database.table("events")}`,
  );
  const ahead = newest - Date.now();
  if (ahead <= toleranceMs) {
    return { level: "good", topic: "Times", text: "no event is later than this machine's clock" };
  }
  return {
    level: "wrong",
    topic: "Times",
    text: `the newest event is ${seconds(ahead)} in the future`,
    advice: ["This clock was set back, or another machine's clock is ahead. Synchronize them."],
  };
}

const serverTime = "SELECT extract(epoch FROM clock_timestamp()) * 1000";

async function numberFrom(database: Database, sql: string): Promise<number> {
  const [row] = await database.query(sql);
  return Number(row?.[0] ?? 0);
}

const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1_000)} s`;

/** The engine brings the transport of webchat itself. */
const builtIn = "webchat";

/** Says which transports the senders need. Only the host application has those of carriers. */
async function checkTransports(database: Database): Promise<Finding> {
  const sql =
    `SELECT mode, transport, count(*) FROM ${database.table("senders")} ` +
    "GROUP BY mode, transport ORDER BY mode, transport";
  const rows = (await database.query(sql)).map(
    ([mode, transport, count]) => [String(mode), String(transport), Number(count)] as const,
  );
  const list = rows.map(([mode, name, count]) => `${name} (${mode}, ${senders(count)})`);
  const live = rows.filter(([mode, name]) => mode === "live" && name !== builtIn);
  const text = list.length === 0 ? "no senders" : list.join(", ");
  if (live.length === 0) {
    const advice = ["Nothing can be sent to real phones: there is no live sender."];
    return { level: "good", topic: "Transports", text, advice };
  }
  const names = live.map(([, name]) => name).join(" and ");
  const advice = [`Live messages need an engine that is created with the transport ${names}.`];
  return { level: "good", topic: "Transports", text, advice };
}

const senders = (count: number): string => (count === 1 ? "1 sender" : `${count} senders`);

/** For how long work may be due before something is wrong, in milliseconds. */
const patienceMs = 10_000;
/**
 * How long work is watched that no engine seems to run, in milliseconds. Between two jobs, a busy
 * engine holds no lease for a moment.
 */
const watchMs = 1_000;

/** Looks for work that is due and that no engine runs. */
async function checkWork(database: Database): Promise<Finding> {
  const dueAt = Date.now() - patienceMs;
  const first = await findIdle(database, dueAt);
  if (first.count > 0) await sleep(watchMs);
  const { count, since } = first.count > 0 ? await findIdle(database, dueAt) : first;
  if (count === 0 || count < first.count) {
    return { level: "good", topic: "Work", text: "no overdue job waits for an engine" };
  }
  return {
    level: "doubtful",
    topic: "Work",
    text:
      `${count === 1 ? "1 job is" : `${count} jobs are`} overdue, ` +
      `the first since ${new Date(since).toISOString()}`,
    advice: [
      "No started engine on this database runs them.",
      "In the sandbox:        tidings dev",
      "In your application:   await engine.start()",
    ],
  };
}

/** Jobs that no engine runs. */
interface IdleJobs {
  readonly count: number;
  /** When the first was due, in milliseconds. */
  readonly since: number;
}

/**
 * Finds the jobs that were due at a time and whose pool no engine works on. A job that an engine
 * has leased is due when its lease expires: an engine that runs it extends the lease in time. The
 * other due jobs of the pool then wait for their turn, as those of a large mailing do.
 */
async function findIdle(database: Database, dueAt: number): Promise<IdleJobs> {
  const jobs = database.table("jobs");
  const [row] = await database.query(
    `SELECT count(*), min(due_at) FROM ${jobs} WHERE due_at < ${dueAt} AND kind <> 'reap' ` +
      `AND pool NOT IN (SELECT pool FROM ${jobs} WHERE leased AND due_at > ${Date.now()})`,
  );
  return { count: Number(row?.[0] ?? 0), since: Number(row?.[1] ?? 0) };
}
