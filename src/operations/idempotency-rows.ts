import { integer, nullable, type RowOf, scoped, text, time } from "../ports/index.ts";

/** What a key was used for, and what was answered. It commits with what the command wrote, so none is ever half done. */
export const idempotency = scoped("idempotency_keys", {
  key: text(),
  /** A keyed hash of the operation and its input. */
  fingerprint: text(),
  status: integer(),
  /** The bytes of the answer; null once what it tells of was erased or redacted. */
  response: nullable(text()),
  /** The id of what the answer shows, so that it can be erased with it. */
  subject_id: nullable(text()),
  /** What else it is found by when that is erased: the same, unless it knows this key, as a message does. Null once it was erased. */
  also_shows: nullable(text()),
  expires_at: time(),
});
export interface IdempotencyRow extends RowOf<typeof idempotency> {}

export const idempotencyByKey = idempotency.key("key");
export const idempotencyAlsoShowing = idempotency.index("by_also_shows", ["also_shows"], {
  where: { column: "also_shows", present: true },
});
export const idempotencyByExpiry = idempotency.acrossScopes.index("by_expires_at", ["expires_at"]);
