/** An engine on the memory storage, and what tests ask of it. */
import { memory } from "../../adapters/storage/memory/index.ts";
import { system } from "../../adapters/system/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { MessagingEngine } from "../../src/engine.ts";
import type { KeyScope } from "../../src/domain/keys/types.ts";
import { idempotency } from "../../src/idempotency/rows.ts";
import type { Limits } from "../../src/options.ts";
import { silent } from "../../src/ports/logger.ts";
import { schema } from "../../src/schema.ts";
import type { Mode, Scope } from "../../src/scope.ts";

export interface Tenant {
  readonly scope: Scope;
  /** A key with all scopes. */
  readonly secret: string;
}

export interface World {
  readonly engine: MessagingEngine;
  /** What was logged as an error. */
  readonly errors: unknown[];
  /** An account of its own, seen in one mode. Its plan lets tests ask as often as they like. */
  tenant(mode: Mode): Promise<Tenant>;
  /** The same account in the other mode. */
  other(tenant: Tenant): Promise<Tenant>;
  keyWith(tenant: Pick<Tenant, "scope">, scopes?: KeyScope[]): Promise<string>;
  /** Every row there is, but for when a key was last used and what was answered under an idempotency key. */
  dump(): Promise<string>;
}

export function world(limits: Partial<Limits> = {}): World {
  const errors: unknown[] = [];
  const storage = memory();
  const logger = { ...silent, error: (facts: object): void => void errors.push(facts) };
  const engine = new MessagingEngine({ storage, transports: [sandbox()], ...system(), logger, limits });
  const keyWith: World["keyWith"] = async ({ scope: { account_id, mode } }, scopes) => {
    const { apiKeys } = engine.account(account_id, { mode });
    const { secret } = await apiKeys.create({ name: "test", ...(scopes === undefined ? {} : { scopes }) });
    return secret ?? "";
  };
  const seen = async (scope: Scope): Promise<Tenant> => ({ scope, secret: await keyWith({ scope }) });
  return {
    engine,
    errors,
    keyWith,
    async tenant(mode) {
      const plan = { name: "test", requests_per_second: 100_000 };
      const { account } = await engine.accounts.create({ name: "test", plan });
      return seen({ account_id: account.id, mode });
    },
    other: ({ scope }) => seen({ ...scope, mode: scope.mode === "live" ? "sandbox" : "live" }),
    async dump() {
      const asked = schema.collections.filter((each) => each !== idempotency);
      const ranges = asked.map(({ primary: index }) =>
        storage.reader.range({ index, prefix: [], order: "ascending", limit: 100_000 }),
      );
      const noted = new Set(["last_used_at", "version"]);
      return JSON.stringify(await Promise.all(ranges), (name, value: unknown) => (noted.has(name) ? undefined : value));
    },
  };
}
