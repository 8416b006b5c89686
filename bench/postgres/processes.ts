import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type pg from "pg";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { createContacts, existingContacts, withEngineOn } from "../support/engines.ts";
import { count, median, scaled, table } from "../support/measure.ts";
import { poolSize, withDatabase } from "../support/postgres-databases.ts";
import type { Assignment, Kind, Report } from "./engine-process.ts";

const rounds = 3;
const numbers = [1, 2, 4] as const;
const kinds = ["accepted", "delivered at once", "delivered"] as const;
/** The messages of all processes together. */
const items: Readonly<Record<Kind, number>> = {
  accepted: scaled(6_000),
  "delivered at once": scaled(6_000),
  delivered: scaled(6_000),
};
const warmUp = scaled(500);

/** The rate of all processes together, and what a message costs the database. */
interface Measured {
  readonly perSecond: number;
  readonly statements: number;
  /** Bytes of the write-ahead log. */
  readonly logBytes: number;
  /** Microseconds of the CPU time of the server's processes. 0 where it cannot be read. */
  readonly cpuUs: number;
}

/** One, two and four processes, each with an engine, on one database. */
export async function postgresProcesses(server: string): Promise<string> {
  const measured = new Map<string, Measured[]>();
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      for (const number of numbers) {
        const runs = measured.get(nameOf(kind, number)) ?? [];
        measured.set(nameOf(kind, number), [...runs, await run(server, kind, number)]);
      }
    }
  }
  const medianOf = (kind: Kind, number: number, what: keyof Measured): number =>
    median((measured.get(nameOf(kind, number)) ?? []).map((each) => each[what]));
  console.log(
    "\nPostgreSQL: processes that share a database" +
      ` (new recipients, 256 at a time and a pool of ${poolSize} in each, median of ${rounds} ` +
      "rounds; statements, log and CPU of the server are per message)\n",
  );
  console.log(
    table(
      ["", "processes", "all per second", "statements", "log bytes", "server's CPU µs"],
      kinds.flatMap((kind) =>
        numbers.map((number) => [
          kind,
          String(number),
          count(medianOf(kind, number, "perSecond")),
          medianOf(kind, number, "statements").toFixed(2),
          count(medianOf(kind, number, "logBytes")),
          count(medianOf(kind, number, "cpuUs")),
        ]),
      ),
    ),
  );
  const summary = (kind: Kind): string =>
    `${kind} ${numbers.map((n) => count(medianOf(kind, n, "perSecond"))).join(" / ")}`;
  const summaries = kinds.map(summary).join(", ");
  return `messages per second of ${numbers.join(" / ")} processes: ${summaries}`;
}

const nameOf = (kind: Kind, processes: number): string => `${kind} ${processes}`;

function run(server: string, kind: Kind, processes: number): Promise<Measured> {
  return withDatabase(server, async (database) => {
    await withEngineOn(postgres({ pool: database.pool({ max: poolSize }) }), createContacts);
    const each = Math.ceil(items[kind] / processes);
    const children = Array.from({ length: processes }, (_, place) =>
      start({ kind, place, items: each, warmUp, url: database.url }),
    );
    try {
      return await measure(children, database.pool({ max: 1 }), kind, each * processes);
    } finally {
      await Promise.all(children.map(end));
    }
  });
}

async function measure(
  children: readonly ChildProcess[],
  pool: pg.Pool,
  kind: Kind,
  all: number,
): Promise<Measured> {
  let done = 0;
  let statements = 0;
  let ready = 0;
  // With delivery, an engine first delivers the messages that made the contacts.
  let expected = kind === "accepted" ? 0 : existingContacts + warmUp * children.length;
  let reached = Promise.withResolvers<void>();
  for (const child of children) {
    child.on("message", (report: Report) => {
      if (report === "ready") ready++;
      else {
        done += report.finished;
        statements += report.statements;
      }
      if (ready === children.length && done === expected) reached.resolve();
    });
    child.once("exit", () => reached.reject(new Error("a process of the benchmark ended early")));
  }
  await reached.promise;
  [done, statements, expected, reached] = [0, 0, all, Promise.withResolvers<void>()];
  const before = await serverWork(pool);
  const began = performance.now();
  for (const child of children) child.send("go");
  await reached.promise;
  const ms = performance.now() - began;
  const after = await serverWork(pool);
  return {
    perSecond: (all * 1_000) / ms,
    statements: statements / all,
    logBytes: (after.logBytes - before.logBytes) / all,
    cpuUs: (after.cpuUs - before.cpuUs) / all,
  };
}

/** What the server has done since its start: the log that it wrote, and its CPU time. */
async function serverWork(pool: pg.Pool): Promise<Pick<Measured, "logBytes" | "cpuUs">> {
  const { rows } = await pool.query<{ log_bytes: string; pids: readonly number[] }>(
    `SELECT pg_current_wal_insert_lsn() - '0/0' AS log_bytes,
      (SELECT array_agg(pid) FROM pg_stat_activity) AS pids`,
  );
  const times = await Promise.all((rows[0]?.pids ?? []).map(cpuUsOf));
  return {
    logBytes: Number(rows[0]?.log_bytes),
    cpuUs: times.reduce((sum, each) => sum + each, 0),
  };
}

/** Returns the CPU time of a process on Linux, in units of 10 ms. Returns 0 if it has ended. */
async function cpuUsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name of the process, in parentheses, may contain spaces. Fields 14 and 15 are its user and
  // system time in hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return stat === "" ? 0 : (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function start(assignment: Assignment): ChildProcess {
  return fork(new URL("./engine-process.ts", import.meta.url), [JSON.stringify(assignment)]);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
}
