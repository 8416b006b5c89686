import { type FieldPlace, TidingsError } from "../kernel/index.ts";
import { idempotencyKeyOf, isIdempotencyKey } from "../operations/index.ts";

export const idempotencyField = "idempotency_key";

/**
 * The key of a command, from the header or from the body's field.
 * @throws TidingsError `malformed_request` when it is not 1 to 255 visible ASCII characters, or both are given and
 * differ
 */
export function idempotencyKey(header: string | undefined, field: unknown): string | null {
  const place = { header: "Idempotency-Key" };
  const fromHeader = header === undefined ? null : (idempotencyKeyOf(header) ?? refuse(place));
  const fromField =
    field === undefined ? null : isKey(field) ? field : refuse({ pointer: `/${idempotencyField}` });
  if (fromHeader !== null && fromField !== null && fromHeader !== fromField) {
    return refuse(
      place,
      "differs",
      "The Idempotency-Key header and the field idempotency_key differ.",
    );
  }
  return fromHeader ?? fromField;
}

/** Of what comes as lines: its input isn't known when it begins, and can be sent again without a key. */
export function refuseKey(header: string | undefined): void {
  if (header === undefined) return;
  refuse(
    { header: "Idempotency-Key" },
    "not_taken",
    "Lines take no idempotency key: they can be sent again without one.",
  );
}

const isKey = (field: unknown): field is string =>
  typeof field === "string" && isIdempotencyKey(field);

function refuse(
  place: FieldPlace,
  code = "invalid_format",
  message = "An idempotency key is 1 to 255 visible ASCII characters.",
): never {
  throw new TidingsError("malformed_request", message, { errors: [{ ...place, code, message }] });
}
