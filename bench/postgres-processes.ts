import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { existingContacts, createContacts, withEngineOn } from "./engines.ts";
import { type Contender, count, medians, scaled, table, type Work } from "./measure.ts";
import { poolSize, withDatabase } from "./postgres-databases.ts";
import type { Assignment, Kind, Report } from "./postgres-process.ts";

const rounds = 3;
const numbers = [1, 2, 3] as const;
const kinds = ["accepted", "accepted to delivered"] as const;
/** The messages of all processes together. */
const items: Readonly<Record<Kind, number>> = {
  accepted: scaled(6_000),
  "accepted to delivered": scaled(1_500),
};

/** One, two and three processes, each with an engine, on one database. */
export async function postgresProcesses(server: string): Promise<string> {
  const contenders = kinds.flatMap((kind) =>
    numbers.map((processes) => contender(server, kind, processes)),
  );
  const rates = await medians(contenders, rounds);
  console.log(
    "\nPostgreSQL: messages per second of all processes together" +
      ` (new recipients, 256 at a time and a pool of ${poolSize} in each, median of ${rounds} ` +
      "rounds)\n",
  );
  const rate = (kind: Kind, processes: number): string =>
    count(rates.get(nameOf(kind, processes)) ?? 0);
  console.log(
    table(
      ["", ...numbers.map((n) => `${n} process${n === 1 ? "" : "es"}`)],
      kinds.map((kind) => [kind, ...numbers.map((n) => rate(kind, n))]),
    ),
  );
  const summary = (kind: Kind): string =>
    `${kind} ${numbers.map((n) => rate(kind, n)).join(" / ")}`;
  return (
    `messages per second of ${numbers.join(" / ")} processes: ` +
    `${summary("accepted")} and ${summary("accepted to delivered")}`
  );
}

const nameOf = (kind: Kind, processes: number): string => `${kind} ${processes}`;

function contender(server: string, kind: Kind, processes: number): Contender {
  return {
    name: nameOf(kind, processes),
    run: () =>
      withDatabase(server, async (database) => {
        await withEngineOn(postgres({ pool: database.pool({ max: poolSize }) }), createContacts);
        const each = Math.ceil(items[kind] / processes);
        const children = Array.from({ length: processes }, (_, place) =>
          start({ kind, place, items: each, url: database.url }),
        );
        try {
          return await measured(children, kind, each * processes);
        } finally {
          await Promise.all(children.map(end));
        }
      }),
  };
}

async function measured(children: readonly ChildProcess[], kind: Kind, all: number): Promise<Work> {
  let done = 0;
  let ready = 0;
  // With delivery, an engine first delivers the messages that made the contacts.
  let expected = kind === "accepted to delivered" ? existingContacts : 0;
  let reached = Promise.withResolvers<void>();
  for (const child of children) {
    child.on("message", (report: Report) => {
      if (report === "ready") ready++;
      else done += report;
      if (ready === children.length && done === expected) reached.resolve();
    });
    child.once("exit", () => reached.reject(new Error("a process of the benchmark ended early")));
  }
  await reached.promise;
  [done, expected, reached] = [0, all, Promise.withResolvers<void>()];
  const began = performance.now();
  for (const child of children) child.send("go");
  await reached.promise;
  return { items: all, ms: performance.now() - began };
}

function start(assignment: Assignment): ChildProcess {
  return fork(new URL("./postgres-process.ts", import.meta.url), [JSON.stringify(assignment)]);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
}
