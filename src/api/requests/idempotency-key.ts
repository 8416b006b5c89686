/** The idempotency key of a request. */
import { TidingsError, type FieldPlace } from "../../kernel/index.ts";
import {
  describeWrongKey,
  idempotencyKeyOf,
  isIdempotencyKey,
  validKey,
} from "../../operations/index.ts";

export const idempotencyField = "idempotency_key";

type Fields = Readonly<Record<string, unknown>>;

const inHeader = { header: "Idempotency-Key" };
const inField = { pointer: `/${idempotencyField}` };

/**
 * Returns the idempotency key of a command, from the header or from the body.
 * @throws TidingsError `malformed_request` when it is not 1 to 255 visible ASCII characters, or
 *   when header and body differ
 */
export function idempotencyKey(header: string | undefined, field: unknown): string | null {
  const fromHeader =
    header === undefined ? null : (idempotencyKeyOf(header) ?? refuseForm(inHeader, header));
  if (field === undefined) return fromHeader;
  const fromField = isIdempotencyKey(field) ? field : refuseForm(inField, field);
  if (fromHeader === null || fromHeader === fromField) return fromField;
  return refuse(
    inHeader,
    "differs",
    "The Idempotency-Key header and the field idempotency_key differ. Send one of them.",
  );
}

/** Splits a body into the key and the other fields. Copies these only if there is a key. */
export function withoutKey(body: Fields): { readonly field: unknown; readonly body: Fields } {
  if (!Object.hasOwn(body, idempotencyField)) return { field: undefined, body };
  const { [idempotencyField]: field, ...others } = body;
  return { field, body: others };
}

/**
 * Refuses a key for NDJSON requests. Their input is unknown at the start, and repeating them is
 * safe.
 */
export function refuseKey(header: string | undefined): void {
  if (header === undefined) return;
  refuse(
    inHeader,
    "not_taken",
    "NDJSON requests take no idempotency key. Remove it: repeating the request is safe.",
  );
}

function refuseForm(place: FieldPlace, key: unknown): never {
  const message = `An idempotency key is ${validKey}. Got ${describeWrongKey(key)}.`;
  return refuse(place, "invalid_format", message);
}

function refuse(place: FieldPlace, code: string, message: string): never {
  throw new TidingsError("malformed_request", message, { errors: [{ ...place, code, message }] });
}
