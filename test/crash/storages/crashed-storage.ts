import { crashedPostgres } from "./crashed-postgres.ts";
import { crashedSqlite } from "./crashed-sqlite.ts";
import type { CrashedStorage, StorageSettings } from "./storages.ts";

type StorageName = StorageSettings["kind"];

const storages: Readonly<Record<StorageName, () => Promise<CrashedStorage>>> = {
  sqlite: crashedSqlite,
  postgres: crashedPostgres,
};

export const storageNames = Object.keys(storages) as readonly StorageName[];

export function crashedStorage(name: StorageName): Promise<CrashedStorage> {
  return storages[name]();
}
