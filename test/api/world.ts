/** An engine with accounts for tests of the API. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { MessagingEngine } from "../../adapters/entry.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { system } from "../../adapters/system/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { Mode, Scope } from "../../src/kernel/ids.ts";
import type { Limits } from "../../src/kernel/limits.ts";
import type { KeyScope } from "../../src/operations/caller.ts";
import { idempotency } from "../../src/operations/execution/rows.ts";
import type { HttpClient } from "../../src/ports/http-client.ts";
import { silent } from "../../src/ports/logger.ts";
import type { StoragePort, Write } from "../../src/ports/storage.ts";
import { over } from "../support/over.ts";
import { makeDatabase } from "../support/postgres/temporary-database.ts";
import { migrated, serverUrl } from "../support/postgres/test-database.ts";

export interface Tenant {
  readonly scope: Scope;
  /** A key with all scopes. */
  readonly secret: string;
}

export interface World {
  readonly engine: MessagingEngine;
  /** What was logged as an error. */
  readonly errors: unknown[];
  /** A new account with a high rate limit, in one mode. */
  tenant(mode: Mode): Promise<Tenant>;
  /** The same account in the other mode. */
  other(tenant: Tenant): Promise<Tenant>;
  keyWith(tenant: Pick<Tenant, "scope">, scopes?: KeyScope[]): Promise<string>;
  /**
   * Every row that was written so far, except the last use of keys and the stored responses. Waits
   * for open transactions.
   */
  written(): Promise<readonly Write[]>;
}

export interface Kept {
  readonly storage: StoragePort;
  readonly remove: () => Promise<void>;
}

/** Storages for tests that share one. */
export const storages: readonly { readonly name: string; readonly make: () => Promise<Kept> }[] = [
  { name: "memory", make: async () => ({ storage: memory(), remove: async () => {} }) },
  {
    name: "SQLite",
    async make() {
      const folder = mkdtempSync(join(tmpdir(), "tidings-"));
      const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
      return { storage: sqlite({ file: join(folder, "test.db") }), remove };
    },
  },
  {
    name: "PostgreSQL",
    async make() {
      const database = await makeDatabase(await serverUrl(), await migrated());
      return {
        storage: postgres({ pool: database.pool() }),
        remove: async () => database[Symbol.asyncDispose](),
      };
    },
  },
];

export function world(
  limits: Partial<Limits> = {},
  storage: StoragePort = memory(),
  options: Partial<EngineOptions> = {},
): World {
  const errors: unknown[] = [];
  const logger = { ...silent, error: (facts: object): void => void errors.push(facts) };
  // It is not started, so nothing is sent.
  const client: HttpClient = {
    send: () => Promise.reject(new Error("nothing is sent")),
    close() {},
  };
  const { storage: recorded, written } = recordWrites(storage);
  const engine = new MessagingEngine({
    storage: recorded,
    transports: [sandbox()],
    ...system(),
    logger,
    limits,
    http: { client },
    agents: { model: () => ({}) },
    ...options,
  });
  const keyWith: World["keyWith"] = async ({ scope: { account_id, mode } }, scopes) => {
    const { apiKeys } = engine.account(account_id, { mode });
    const { secret } = await apiKeys.create({
      name: "test",
      ...(scopes === undefined ? {} : { scopes }),
    });
    return secret;
  };
  const seen = async (scope: Scope): Promise<Tenant> => ({
    scope,
    secret: await keyWith({ scope }),
  });
  return {
    engine,
    errors,
    written,
    keyWith,
    async tenant(mode) {
      const plan = { name: "test", requests_per_second: 100_000 };
      const { account } = await engine.accounts.create({ name: "test", plan });
      return seen({ account_id: account.id, mode });
    },
    other: ({ scope }) => seen({ ...scope, mode: scope.mode === "live" ? "sandbox" : "live" }),
  };
}

function recordWrites(storage: StoragePort): Pick<World, "written"> & { storage: StoragePort } {
  const written: Write[] = [];
  let open = 0;
  const begin: StoragePort["begin"] = (how) => {
    const group = storage.begin(how);
    open++;
    return {
      read: (lookups) => group.read(lookups),
      abort() {
        open--;
        return group.abort();
      },
      async commit(writes) {
        written.push(...writes.filter((write) => !isBookkeeping(write)));
        try {
          await group.commit(writes);
        } finally {
          open--;
        }
      },
    };
  };
  return {
    storage: over(storage, { begin }),
    async written() {
      // A request may leave a transaction behind that has not begun.
      do await setImmediate();
      while (open > 0);
      return [...written];
    },
  };
}

/** Stored responses, the last use of a key and rows that are only held change nothing else. */
function isBookkeeping(write: Write): boolean {
  if (write.collection === idempotency || write.kind === "hold") return true;
  return write.kind === "update" && write.changed.join() === "last_used_at";
}
