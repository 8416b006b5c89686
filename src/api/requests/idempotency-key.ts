/** The idempotency key of a request. */
import { TidingsError, type FieldPlace } from "../../kernel/index.ts";
import {
  describeWrongKey,
  idempotencyKeyOf,
  isIdempotencyKey,
  validKey,
} from "../../operations/index.ts";

export const idempotencyField = "idempotency_key";

/**
 * Returns the idempotency key of a command, from the header or from the body.
 * @throws TidingsError `malformed_request` when it is not 1 to 255 visible ASCII characters, or
 *   when header and body differ
 */
export function idempotencyKey(header: string | undefined, field: unknown): string | null {
  const fromHeader = header === undefined ? null : keyInHeader(header);
  const fromField = field === undefined ? null : keyInField(field);
  if (fromHeader !== null && fromField !== null && fromHeader !== fromField) {
    return refuse(
      headerPlace,
      "differs",
      "The Idempotency-Key header and the field idempotency_key differ. Send one of them.",
    );
  }
  return fromHeader ?? fromField;
}

/**
 * Refuses a key for NDJSON requests. Their input is unknown at the start, and repeating them is
 * safe.
 */
export function refuseKey(header: string | undefined): void {
  if (header === undefined) return;
  refuse(
    headerPlace,
    "not_taken",
    "NDJSON requests take no idempotency key. Remove it: repeating the request is safe.",
  );
}

const headerPlace = { header: "Idempotency-Key" };

function keyInHeader(header: string): string {
  return idempotencyKeyOf(header) ?? refuseForm(headerPlace, header);
}

function keyInField(field: unknown): string {
  if (typeof field === "string" && isIdempotencyKey(field)) return field;
  return refuseForm({ pointer: `/${idempotencyField}` }, field);
}

function refuseForm(place: FieldPlace, key: unknown): never {
  const message = `An idempotency key is ${validKey}. Got ${describeWrongKey(key)}.`;
  return refuse(place, "invalid_format", message);
}

function refuse(place: FieldPlace, code: string, message: string): never {
  throw new TidingsError("malformed_request", message, { errors: [{ ...place, code, message }] });
}
