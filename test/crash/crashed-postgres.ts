import { setTimeout as sleep } from "node:timers/promises";
import type { Statement } from "../support/postgres-proxy.ts";
import { makeDatabase } from "../support/postgres-database.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { CrashedStorage } from "./storages.ts";
import { type Ask, type View, viewBy } from "./view.ts";

/** A server of its own, or the one that `DATABASE_URL` names. The processes reach it through a proxy, the judge does not. */
export async function crashedPostgres(): Promise<CrashedStorage> {
  const given = process.env["DATABASE_URL"];
  const server = given === undefined ? await startPostgres() : undefined;
  const database = await makeDatabase(server?.url ?? given ?? "");
  const proxy = await database.proxy();
  const pool = database.pool({ max: 2 });
  const ask: Ask = async (sql, ...values) => {
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
  const view = (): View => viewBy(ask, () => Promise.resolve());
  return {
    name: "postgres",
    processes: 3,
    settings: { kind: "postgres", url: proxy.url },
    view,
    // The database is not what was killed: it is looked at as it is.
    wreck: async () => ({ view: view(), damage: [] }),
    async disturb(dice) {
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
          await server?.stop("immediate");
          await server?.start();
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

/** The judge waits for a server that starts again. */
function isDown(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return String(error).includes("terminated");
  return ["57P01", "57P02", "57P03", "ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE"].includes(
    String(error.code),
  );
}
