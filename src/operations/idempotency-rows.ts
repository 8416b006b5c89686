import type { AccountId } from "../kernel/ids.ts";
import { collection, integer, nullable, text, time } from "../ports/collection.ts";
import type { Mode } from "../kernel/scope.ts";

/** What a key was used for, and what was answered. It commits with what the command wrote, so none is ever half done. */
export interface IdempotencyRow {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly key: string;
  /** A keyed hash of the operation and its input. */
  readonly fingerprint: string;
  readonly status: number;
  /** The bytes of the answer; null once what it tells of was erased or redacted. */
  readonly response: string | null;
  /** The id of what the answer shows, so that it can be erased with it. */
  readonly subject_id: string | null;
  /** What else it is found by when that is erased: the same, unless it knows this key, as a message does. Null once it was erased. */
  readonly also_shows: string | null;
  readonly expires_at: number;
}

export const idempotency = collection<IdempotencyRow>("idempotency_keys", {
  account_id: text,
  mode: text,
  key: text,
  fingerprint: text,
  status: integer,
  response: nullable(text),
  subject_id: nullable(text),
  also_shows: nullable(text),
  expires_at: time,
});
export const idempotencyByKey = idempotency.key("account_id", "mode", "key");
export const idempotencyAlsoShowing = idempotency.index(
  "by_also_shows",
  ["account_id", "mode", "also_shows"],
  {
    where: { column: "also_shows", present: true },
  },
);
export const idempotencyByExpiry = idempotency.index("by_expires_at", ["expires_at"]);
