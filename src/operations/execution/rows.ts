import { boolean, integer, nullable, scoped, text, time, type RowOf } from "../../ports/index.ts";

/**
 * The uses of idempotency keys, with the stored responses. A row commits together with the writes
 * of its command, so a command is never half done under a key.
 */
export const idempotency = scoped("idempotency_keys", {
  key: text(),
  /** A keyed hash of the operation and its input. See `fingerprint.ts`. */
  fingerprint: text(),
  status: integer(),
  /** The bytes of the response. Null after the resource that it shows was erased or redacted. */
  response: nullable(text()),
  /** The id of the resource that the response shows. */
  subject_id: nullable(text()),
  /**
   * Finds the response when the resource is erased or redacted. Equal to `subject_id`, but null if
   * the resource stores this key (as a message does), and null after the erasure or redaction.
   */
  also_shows: nullable(text()),
  /** True if a reset of the sandbox leaves the key, because it leaves what the request did. */
  survives_reset: nullable(boolean<true>()),
  expires_at: time(),
});
export interface IdempotencyRow extends RowOf<typeof idempotency> {}

export const idempotencyByKey = idempotency.key("key");
export const idempotencyAlsoShowing = idempotency.index("by_also_shows", ["also_shows"], {
  where: { column: "also_shows", present: true },
});
export const idempotencyByExpiry = idempotency.acrossScopes.index("by_expires_at", ["expires_at"]);
