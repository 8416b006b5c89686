import type { Scope } from "../kernel/scope.ts";
import type { Claim } from "./types.ts";

/** Whose work a job is. */
export function scopeOf({ kind, account_id, mode }: Claim): Scope {
  if (account_id === null || mode === null) throw new TypeError(`a ${kind} job is an account's`);
  return { account_id, mode };
}
