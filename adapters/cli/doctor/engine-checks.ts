import type { StoragePort } from "../../../src/ports/index.ts";
import { missingOptions, type ComparedOptions } from "../../../src/queue/index.ts";
import type { Database } from "../database/database.ts";
import type { Finding } from "./finding.ts";

interface StartedEngine {
  readonly id: string;
  readonly startedAt: string;
  readonly options: ComparedOptions;
}

/** The maximum number of engines that are compared. */
const maxEngines = 1_000;

/** Compares the options of the engines that are started. `storage` is open. */
export async function checkEngines(database: Database, storage: StoragePort): Promise<Finding> {
  const engines = await findStarted(database, storage);
  const text = `${counted(engines.length)} started`;
  // The times at which engines were started, by the options that these engines lack.
  const lacking = new Map<string, string[]>();
  for (const { startedAt, options } of engines) {
    const missing = new Set(engines.flatMap((other) => missingOptions(options, other.options)));
    if (missing.size === 0) continue;
    const key = [...missing].join("; ");
    lacking.set(key, [...(lacking.get(key) ?? []), startedAt]);
  }
  if (lacking.size === 0) return { level: "good", topic: "Engines", text };
  return {
    level: "doubtful",
    topic: "Engines",
    text: `${text}, with different options`,
    advice: [
      ...[...lacking].map(([missing, [first, ...others]]) => {
        const more = others.length === 0 ? "" : ` and ${others.length} more`;
        return `Missing in the one started at ${first}${more}: ${missing}`;
      }),
      "Give all engines the same options. While you deploy a new version, they differ for a while.",
    ],
  };
}

function counted(count: number): string {
  if (count === 0) return "no engine is";
  return count === 1 ? "1 engine is" : `${count} engines are`;
}

/** Leaves out engines that have crashed: nobody holds their locks. */
async function findStarted(
  database: Database,
  storage: StoragePort,
): Promise<readonly StartedEngine[]> {
  const sql =
    `SELECT id, started_at, CAST(options AS text) FROM ${database.table("engines")} ` +
    `ORDER BY started_at LIMIT ${maxEngines}`;
  const engines = (await database.query(sql)).map(([id, startedAt, options]): StartedEngine => ({
    id: String(id),
    startedAt: new Date(Number(startedAt)).toISOString(),
    options: JSON.parse(String(options)) as ComparedOptions,
  }));
  const ids = engines.map(({ id }) => id);
  const free = new Set(ids.length === 0 ? [] : await storage.engineLocks?.findFree(ids));
  return engines.filter(({ id }) => !free.has(id));
}
