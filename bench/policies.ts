import type { DatabaseSync } from "node:sqlite";
import type { PoolClient } from "pg";
import { memory } from "../adapters/storage/memory/index.ts";
import { postgres } from "../adapters/storage/postgres/index.ts";
import { sqlite } from "../adapters/storage/sqlite/index.ts";
import type { Policy, Verdict } from "../src/ports/policy.ts";
import type { StoragePort } from "../src/ports/storage.ts";
import { startPostgres } from "../test/support/postgres/server.ts";
import { createContacts, send, withEngineOn, withTempFile } from "./support/engines.ts";
import { concurrently, count, medians, ratio, scaled, table } from "./support/measure.ts";
import { poolSize, withDatabase } from "./support/postgres-databases.ts";

const rounds = 3;
const atOnce = 64;
const allow: Verdict = { verdict: "allow" };

/** What is compared: no policy, one that only looks at the facts, and one that queries a table. */
const kinds = ["none", "from the facts", "with a query"] as const;
type Kind = (typeof kinds)[number];

const policies: Readonly<Record<Kind, readonly Policy[]>> = {
  none: [],
  "from the facts": [{ name: "facts", evaluate: () => allow }],
  "with a query": [{ name: "query", evaluate: (_, tx) => query(tx) }],
};

const sql = "SELECT 1 FROM tidings_messages WHERE false";

/** A query that costs the database next to nothing. */
function query(tx: object | undefined): Verdict | Promise<Verdict> {
  if (tx === undefined) return allow;
  if ("prepare" in tx) {
    (tx as DatabaseSync).prepare(sql).get();
    return allow;
  }
  return (tx as PoolClient).query(sql).then(() => allow);
}

interface Storage {
  readonly name: string;
  readonly items: number;
  readonly kinds: readonly Kind[];
  with<T>(use: (storage: StoragePort) => Promise<T>): Promise<T>;
}

/** Sends in process with a policy of the host application, and without one. */
export async function policySends(): Promise<string> {
  await using server = await startPostgres();
  const storages: readonly Storage[] = [
    {
      name: "memory",
      items: scaled(12_000),
      // It has no tables of the host application.
      kinds: ["none", "from the facts"],
      with: (use) => use(memory()),
    },
    {
      name: "SQLite",
      items: scaled(6_000),
      kinds,
      with: (use) => withTempFile((file) => use(sqlite({ file }))),
    },
    {
      name: "PostgreSQL",
      items: scaled(3_000),
      kinds,
      with: (use) =>
        withDatabase(server.url, (database) =>
          use(postgres({ pool: database.pool({ max: poolSize }) })),
        ),
    },
  ];
  const nameOf = ({ name }: Storage, kind: Kind): string => `${name}: ${kind}`;
  const rates = await medians(
    storages.flatMap((storage) =>
      storage.kinds.map((kind) => ({
        name: nameOf(storage, kind),
        run: () => sendWith(storage, kind),
      })),
    ),
    rounds,
  );
  const lines = storages.flatMap((storage) =>
    storage.kinds.map((kind) => {
      const rate = rates.get(nameOf(storage, kind)) ?? 0;
      return [
        nameOf(storage, kind),
        rate,
        rate / (rates.get(nameOf(storage, "none")) ?? 1),
      ] as const;
    }),
  );
  console.log(`\nSends per second, ${atOnce} at once (median of ${rounds} rounds)\n`);
  console.log(
    table(
      ["policy", "per second", "ratio to none"],
      lines.map(([name, rate, toNone]) => [name, count(rate), ratio(toNone)]),
    ),
  );
  const ratios = lines.map(([name, , toNone]) => `${ratio(toNone)} (${name})`);
  return `policies: sends reach ${ratios.join(", ")} of the rate without a policy`;
}

function sendWith(storage: Storage, kind: Kind): Promise<{ items: number; ms: number }> {
  const { items } = storage;
  return storage.with((port) =>
    withEngineOn(
      port,
      async (engine) => {
        await createContacts(engine);
        const ms = await concurrently(items, atOnce, (i) => send(engine, "existing", i));
        return { items, ms };
      },
      { policies: policies[kind] },
    ),
  );
}
