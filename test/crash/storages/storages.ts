/** The storages under test: how an engine's process opens them, and how the judge reads them. */
import type { StoragePort } from "tidings";
import { postgres } from "tidings/postgres";
import { sqlite } from "tidings/sqlite";
import type { Dice } from "../dice.ts";
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

/** What goes wrong when an engine is killed, besides the kill. */
export type MishapName =
  "kill" | "disk full" | "size limit" | "read-only" | "torn log" | "server killed";

/** A mishap: before the kill, between the kill and the next start, and its end. */
export interface Mishap {
  /** Happens while the engine runs, which then goes on for a while. */
  before?(pid: number, dice: Dice): Promise<void>;
  /** Happens to what the kill has left. */
  after?(dice: Dice): Promise<void>;
  /** Ends it, some time after the next process was started. */
  end?(): Promise<void>;
}

export interface CrashedStorage extends AsyncDisposable {
  readonly name: StorageSettings["kind"];
  /** The number of engine processes that use it at once. */
  readonly processes: number;
  readonly settings: StorageSettings;
  /** The mishaps that are possible here, and how likely each is. */
  readonly mishaps: Readonly<Partial<Record<MishapName, Mishap & { readonly weight: number }>>>;
  view(): DatabaseView;
  /** Inspects what a kill left behind, without changing it for the next process. */
  inspectAfterKill(): Promise<{
    readonly view: DatabaseView;
    readonly damage: readonly string[];
  }>;
  /** Cuts connections in some way, or crashes the server. Absent for embedded storages. */
  breakConnections?(dice: Dice): Promise<void>;
}
