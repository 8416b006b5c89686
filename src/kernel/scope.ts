import type { AccountId } from "./ids.ts";

/** Sandbox and live share code and endpoints, and not one row. */
export type Mode = "sandbox" | "live";

/** Whose rows a command may name. Every command and every read needs one. */
export interface Scope {
  readonly account_id: AccountId;
  readonly mode: Mode;
}
