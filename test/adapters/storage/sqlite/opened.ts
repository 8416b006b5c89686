/** SQLite storages with the table of notes, and groups that join a transaction of the host. */
import { sqlite } from "../../../../adapters/storage/sqlite/index.ts";
import type { Group, StoragePort } from "../../../../src/ports/storage.ts";
import { firstSchema } from "../notes.ts";
import { closing } from "../port.ts";
import { temporaryFile } from "./files.ts";

export async function opened(): Promise<{ readonly port: StoragePort; readonly file: string }> {
  const file = await temporaryFile();
  const port = closing(sqlite({ file }));
  await port.open(firstSchema);
  return { port, file };
}

export function joined(port: StoragePort, handle: unknown): Group {
  if (port.host === undefined) throw new Error("host transactions are not offered");
  return port.host(handle);
}
