/**
 * Secrets of the sandbox that stay the same across restarts, so that another program can have them
 * in its configuration. The database has at most their hashes. The secrets are in a file beside the
 * database that only its owner can read.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { memberOf } from "../../src/kernel/index.ts";
import { Failure, systemCode } from "./failures.ts";

/** The secrets of one database. */
export interface Secrets {
  /** The API key that `tidings dev` prints. */
  readonly api_key?: string;
  /** The secret that `tidings webhooks listen` signs with. */
  readonly webhook_secret?: string;
}

/** Returns the path of the file with the secrets of a database. */
export const secretsFile = (database: string): string => `${database}.secrets.json`;

/**
 * Reads the secrets of a database. There are none if the file does not exist.
 * @throws Failure when the file cannot be read
 */
export function readSecrets(database: string): Secrets {
  const file = secretsFile(database);
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    const [api_key, webhook_secret] = [
      memberOf(content, "api_key"),
      memberOf(content, "webhook_secret"),
    ];
    return {
      ...(typeof api_key === "string" ? { api_key } : {}),
      ...(typeof webhook_secret === "string" ? { webhook_secret } : {}),
    };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return {};
    throw new Failure(
      `The file ${file} cannot be read.`,
      "Delete it, and new secrets are created. The old API key works until it is revoked.",
    );
  }
}

/** Adds secrets to those of a database, and replaces those of the same name. */
export function saveSecrets(database: string, added: Secrets): void {
  const content = JSON.stringify({ ...readSecrets(database), ...added }, null, 2);
  writeFileSync(secretsFile(database), `${content}\n`, { mode: 0o600 });
}
