/** The storages under test: how an engine's process opens them, and how the judge reads them. */
import type { StoragePort } from "tidings";
import { postgres } from "tidings/postgres";
import { sqlite } from "tidings/sqlite";
import type { Dice } from "./dice.ts";
import type { DatabaseView } from "./database-view.ts";

/** How a process reaches its storage. */
export type StorageSettings =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string };

export async function openStorage(settings: StorageSettings): Promise<StoragePort> {
  if (settings.kind === "sqlite") return sqlite({ file: settings.file });
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: settings.url, max: 5, allowExitOnIdle: true });
  // The test cuts idle connections. An error without a listener would end the process.
  pool.on("error", () => {});
  return postgres({ pool });
}

export interface CrashedStorage extends AsyncDisposable {
  readonly name: StorageSettings["kind"];
  /** The number of engine processes that use it at once. */
  readonly processes: number;
  readonly settings: StorageSettings;
  view(): DatabaseView;
  /** Inspects what a kill left behind, without changing it for the next process. */
  inspectAfterKill(): Promise<{
    readonly view: DatabaseView;
    readonly damage: readonly string[];
  }>;
  /** Cuts connections in some way, or crashes the server. Absent for embedded storages. */
  breakConnections?(dice: Dice): Promise<void>;
}
