/** The storages that are crashed, as the process under test opens them and as the judge looks at them from outside. */
import pg from "pg";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { Dice } from "./dice.ts";
import type { View } from "./view.ts";

/** What a process is told of its storage. */
export type StorageSettings =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string };

export function openStorage(settings: StorageSettings): StoragePort {
  if (settings.kind === "sqlite") return sqlite({ file: settings.file });
  const pool = new pg.Pool({ connectionString: settings.url, max: 5, allowExitOnIdle: true });
  // Idle connections are cut too; without a listener that would end the process.
  pool.on("error", () => {});
  return postgres({ pool });
}

export interface CrashedStorage extends AsyncDisposable {
  readonly name: StorageSettings["kind"];
  /** Engines that work on it at once. */
  readonly processes: number;
  readonly settings: StorageSettings;
  view(): View;
  /** The same, of what a kill left behind: the next process finds it untouched. Answers also what is damaged. */
  wreck(): Promise<{ readonly view: View; readonly damage: readonly string[] }>;
  /** Cuts connections in one way or another, or crashes the server, where there are such. */
  disturb?(dice: Dice): Promise<void>;
}
