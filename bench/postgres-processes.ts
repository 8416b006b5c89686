import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { known, meet, withEngineOn } from "./engines.ts";
import { type Contender, medians, type Work } from "./measure.ts";
import { poolSize, withDatabase } from "./postgres-databases.ts";
import type { Order, Report } from "./postgres-process.ts";
import { count, table } from "./table.ts";

const rounds = 3;
const numbers = [1, 2, 3] as const;
const kinds = ["accepted", "accepted to delivered"] as const;
export type Kind = (typeof kinds)[number];
/** In all. */
const items: Readonly<Record<Kind, number>> = {
  accepted: 6_000,
  "accepted to delivered": 1_500,
};

/** One, two and three processes with an engine each on one database, 256 at once in each. */
export async function postgresProcesses(server: string): Promise<string> {
  const contenders = kinds.flatMap((kind) =>
    numbers.map((processes) => contender(server, kind, processes)),
  );
  const rates = await medians(contenders, rounds);
  console.log(
    `\nPostgreSQL: a second, all processes together, to new recipients, each with 256 at once and a pool of ${poolSize}\n`,
  );
  const rate = (kind: Kind, processes: number): string =>
    count(rates.get(nameOf(kind, processes)) ?? 0);
  console.log(
    table(
      ["", ...numbers.map((n) => `${n} process${n === 1 ? "" : "es"}`)],
      kinds.map((kind) => [kind, ...numbers.map((n) => rate(kind, n))]),
    ),
  );
  const told = (kind: Kind): string => `${kind} ${numbers.map((n) => rate(kind, n)).join(" / ")}`;
  return `by ${numbers.join(" / ")} processes ${told("accepted")} and ${told("accepted to delivered")}`;
}

const nameOf = (kind: Kind, processes: number): string => `${kind} ${processes}`;

function contender(server: string, kind: Kind, processes: number): Contender {
  return {
    name: nameOf(kind, processes),
    run: () =>
      withDatabase(server, async (database) => {
        await withEngineOn(postgres({ pool: database.pool({ max: poolSize }) }), meet);
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
  let reached = 0;
  let wanted = kind === "accepted to delivered" ? known : 0;
  let settled = Promise.withResolvers<void>();
  let ready = 0;
  const look = (): void => {
    if (ready === children.length && reached === wanted) settled.resolve();
  };
  for (const child of children) {
    child.on("message", (report: Report) => {
      if (report === "ready") ready++;
      else reached += report;
      look();
    });
    child.once("exit", () => settled.reject(new Error("a process ended")));
  }
  await settled.promise;
  [reached, wanted, settled] = [0, all, Promise.withResolvers<void>()];
  const began = performance.now();
  for (const child of children) child.send("go");
  await settled.promise;
  return { items: all, ms: performance.now() - began };
}

function start(order: Order): ChildProcess {
  return fork(new URL("./postgres-process.ts", import.meta.url), [JSON.stringify(order)]);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
}
