import { createHmac, type KeyObject } from "node:crypto";
import { describe, invalid, type WebchatSessionId } from "../kernel/index.ts";
import { boolean, integer, nullable, type RowOf, scoped, text, time } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { type Services, standardHistoryChunks } from "./runtime.ts";

/**
 * The uses of idempotency keys, with the stored responses. A row commits together with the writes
 * of its command, so a command is never half done under a key.
 */
export const idempotency = scoped("idempotency_keys", {
  key: text(),
  /** A keyed hash of the operation and its input. See `fingerprintOf`. */
  fingerprint: text(),
  status: integer(),
  /** The bytes of the response. Null after the resource that it shows was erased or redacted. */
  response: nullable(text()),
  /** The id of the resource that the response shows. */
  subject_id: nullable(text()),
  /**
   * Finds the response when the resource is erased. Equal to `subject_id`, but null if the resource
   * stores this key (as a message does), and null after the erasure.
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

/** 1 to 255 visible ASCII characters (VCHAR of RFC 5234). */
export function isIdempotencyKey(text: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(text);
}

/** An idempotency key with its origin. */
export type IdempotencyKey =
  /** A key that an API caller chose. */
  | { readonly by: "caller"; readonly key: string }
  /** A key that an operator's browser chose. It is separate from the keys of other operators. */
  | { readonly by: "operator"; readonly operator_id: string; readonly key: string }
  /** A key that a visitor's browser chose. It is separate from the keys of the account. */
  | { readonly by: "visitor"; readonly session_id: WebchatSessionId; readonly key: string }
  /** A step of a procedure. `of` is the stored key of the whole request. */
  | { readonly by: "step"; readonly of: string; readonly step: number };

/**
 * Returns the text under which a key is stored and shown. Keys that callers choose have no spaces
 * and are stored unchanged. An operator's or visitor's key has two spaces, and a step adds one, so
 * keys of different origins are never equal.
 */
export function storedKey(key: IdempotencyKey): string {
  switch (key.by) {
    case "caller":
      return key.key;
    case "operator":
      return `operator ${encodeURIComponent(key.operator_id)} ${key.key}`;
    case "visitor":
      return `visitor ${key.session_id} ${key.key}`;
    case "step":
      return `${key.of} ${key.step}`;
  }
}

/**
 * Checks the key of an in-process call. Returns null if the call has none.
 * @throws TidingsError `validation_failed`
 */
export function checkedKey(key: unknown): string | null {
  if (key === undefined) return null;
  if (typeof key === "string" && isIdempotencyKey(key)) return key;
  const code = typeof key === "string" ? "format" : "invalid_type";
  const got = typeof key === "string" ? "" : `, got ${describe(key)}`;
  const message = `must be a string of 1 to 255 visible ASCII characters${got}`;
  throw invalid([{ parameter: "idempotencyKey", code, message }]);
}

/**
 * Returns the key in an `Idempotency-Key` header: bare, or a quoted string (RFC 9651, 3.3.3) as in
 * draft-ietf-httpapi-idempotency-key-header. Returns null if the header is not valid.
 */
export function idempotencyKeyOf(header: string): string | null {
  const key = header.startsWith('"') ? unquoted(header) : header;
  return key !== null && isIdempotencyKey(key) ? key : null;
}

function unquoted(header: string): string | null {
  const [, inner] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header) ?? [];
  return inner?.replaceAll(/\\(.)/g, "$1") ?? null;
}

/**
 * Distinguishes requests under the same idempotency key: HMAC-SHA256, in hexadecimal, of the
 * operation's name and its input (path parameters and body) without `idempotency_key`. It is keyed
 * so that nobody can confirm a guessed input by a stored fingerprint.
 */
export function fingerprintOf(secret: KeyObject, operation: string, input: unknown): string {
  return createHmac("sha256", secret)
    .update(`${operation}\n${canonicalJson(withoutKey(input))}`)
    .digest("hex");
}

function withoutKey(input: unknown): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const { idempotency_key: _, ...others } = input as Readonly<Record<string, unknown>>;
  return others;
}

/**
 * Writes canonical JSON (RFC 8785): members sorted by the UTF-16 code units of their names, no
 * white space, numbers and strings as `JSON.stringify` writes them. Undefined members are omitted.
 * The items of a batch that a caller passes in process may be no JSON. They are refused one by one,
 * so they must not throw here: a bigint is written as text, and a circle ends with "circular".
 */
export function canonicalJson(value: unknown, within: readonly object[] = []): string {
  if (typeof value === "bigint") return JSON.stringify(`${value}n`);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (within.includes(value)) return '"circular"';
  const inside = [...within, value];
  if (Array.isArray(value)) {
    return `[${value.map((each: unknown) => canonicalJson(each, inside)).join(",")}]`;
  }
  let written = "";
  // The default order of `toSorted` is by UTF-16 code units, as the RFC requires.
  for (const name of Object.keys(value).toSorted()) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    const comma = written === "" ? "" : ",";
    written += `${comma}${JSON.stringify(name)}:${canonicalJson(member, inside)}`;
  }
  return `{${written}}`;
}

/**
 * Whether a key still replays its response. It does during its lifetime, and afterwards while the
 * resource that the request created is in progress, since a retry must find that resource.
 */
export async function isRemembered(
  tx: Tx,
  { subject_id, expires_at }: IdempotencyRow,
  { isInProgress }: Pick<Services, "isInProgress">,
): Promise<boolean> {
  if (expires_at > tx.now) return true;
  return subject_id !== null && isInProgress(tx, subject_id);
}

/** Erases up to `max` stored responses that show a resource. Returns whether none are left. */
export async function eraseStoredResponses(
  tx: Tx,
  id: string,
  max: number = standardHistoryChunks.responses,
): Promise<boolean> {
  const stored = await tx.list(idempotencyAlsoShowing, [id], max);
  for (const row of stored) tx.update(idempotency, row, { response: null, also_shows: null });
  return stored.length < max;
}
