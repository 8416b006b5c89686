/** The API key that `tidings dev` prints. It stays the same across restarts. */
import type { MessagingEngine } from "../../entry.ts";
import { fetchHandler } from "../../http/fetch.ts";
import { readSecrets, saveSecrets, secretsFile } from "../secrets.ts";

/** A key and where its secret is kept. */
export interface DevKey {
  readonly secret: string;
  readonly file: string;
  /** Whether the secret was made just now. */
  readonly isNew: boolean;
}

/** Returns the key of the last start, or a new one if there is none or it no longer works. */
export async function ensureKey(engine: MessagingEngine, database: string): Promise<DevKey> {
  const file = secretsFile(database);
  const kept = readSecrets(database).api_key;
  if (kept !== undefined && (await works(engine, kept))) {
    return { secret: kept, file, isNew: false };
  }
  const { secret } = await engine.apiKeys.create({ name: "tidings dev" });
  saveSecrets(database, { api_key: secret });
  return { secret, file, isNew: true };
}

/** Whether the engine accepts a secret. */
async function works(engine: MessagingEngine, secret: string): Promise<boolean> {
  const request = new Request("http://localhost/v1/account", {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { status } = await fetchHandler(engine)(request);
  return status === 200;
}
