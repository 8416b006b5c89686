import { setTimeout as sleep } from "node:timers/promises";
import type { Statement } from "../support/postgres-proxy.ts";
import { makeDatabase } from "../support/postgres-database.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { CrashedStorage } from "./storages.ts";
import { type Query, type DatabaseView, databaseView } from "./database-view.ts";

/**
 * PostgreSQL: the server that `DATABASE_URL` names, or one of its own. The engines connect through
 * a proxy that can cut their connections. The judge connects directly.
 */
export async function crashedPostgres(): Promise<CrashedStorage> {
  const given = process.env["DATABASE_URL"];
  const server = given === undefined ? await startPostgres() : undefined;
  const database = await makeDatabase(server?.url ?? given ?? "");
  const proxy = await database.proxy();
  const pool = database.pool({ max: 2 });
  let last: Promise<void> = Promise.resolve();
  let isKilled = false;
  /** The server is stopped and started by one at a time. */
  const alone = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work, work);
    return last;
  };
  const query: Query = async (sql, ...values) => {
    for (;;) {
      try {
        const { rows } = await pool.query<Record<string, unknown>>(sql.replaceAll("?", "$1"), [
          ...values,
        ]);
        return rows;
      } catch (error) {
        if (!isDown(error)) throw error;
        await sleep(50);
      }
    }
  };
  const view = (): DatabaseView => databaseView(query, () => Promise.resolve());
  return {
    name: "postgres",
    processes: 3,
    settings: { kind: "postgres", url: proxy.url },
    mishaps: {
      kill: { weight: 4 },
      ...(server === undefined
        ? {}
        : {
            "server killed": {
              weight: 1,
              before: () =>
                alone(async () => {
                  isKilled = true;
                  await server.kill();
                }),
              after: () =>
                alone(async () => {
                  await server.start();
                  isKilled = false;
                }),
            },
          }),
    },
    view,
    // A kill of an engine cannot damage the server's files, so the live database is inspected.
    inspectAfterKill: async () => ({ view: view(), damage: [] }),
    async breakConnections(dice) {
      switch (
        dice.pick({
          all: 4,
          "before a write": 6,
          "after a write": 6,
          "for a while": 2,
          "a crash": 1,
        })
      ) {
        case "all":
          proxy.cut();
          return;
        case "a crash":
          await alone(async () => {
            if (isKilled) return;
            await server?.stop("immediate");
            await server?.start();
          });
          return;
        case "before a write":
          await Promise.race([proxy.cutAt(isWrite, "before"), sleep(1_000)]);
          return;
        case "after a write":
          await Promise.race([proxy.cutAt(isWrite, "after"), sleep(1_000)]);
          return;
        case "for a while":
          proxy.refuses = true;
          proxy.cut();
          await sleep(dice.between(20, 600));
          proxy.refuses = false;
      }
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    },
  };
}

function isWrite({ sql }: Statement): boolean {
  return /\b(INSERT INTO|UPDATE|DELETE FROM)\b/.test(sql);
}

/** Whether the server is down for now. The judge waits until it is back. */
function isDown(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return String(error).includes("terminated");
  return ["57P01", "57P02", "57P03", "ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE"].includes(
    String(error.code),
  );
}
