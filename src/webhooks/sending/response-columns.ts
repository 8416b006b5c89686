/** How an attempt stores the response of the receiver. */
import type { HttpOutcome, HttpResponse } from "../../ports/index.ts";
import type { DeliveryAttemptRow } from "../rows.ts";
import { isSuccess } from "./schedule.ts";

type ResponseColumns = Pick<
  DeliveryAttemptRow,
  | "address"
  | "status_code"
  | "error"
  | "response_headers"
  | "response_body"
  | "response_is_base64"
  | "response_truncated"
>;

/**
 * Returns the stored columns of a response. When the sent body was erased or redacted since, the
 * response is not stored, because it may quote that body.
 */
export function responseColumns(
  outcome: HttpOutcome,
  { isErased }: { readonly isErased: boolean },
): ResponseColumns {
  const response = outcome.outcome === "answered" ? outcome : outcome.partial;
  return {
    address: outcome.address,
    status_code: response?.status ?? null,
    error: errorOf(outcome),
    response_headers: isErased ? {} : (response?.headers ?? {}),
    ...bodyColumns(isErased ? null : response),
    response_truncated: response?.truncated ?? false,
  };
}

/** Returns the error code of a failed attempt, or null after a success. */
function errorOf(outcome: HttpOutcome): string | null {
  if (isSuccess(outcome)) return null;
  if (outcome.outcome === "failed") return outcome.code;
  return outcome.status >= 300 && outcome.status < 400 ? "redirected" : "status_not_2xx";
}

function bodyColumns(
  response: HttpResponse | null,
): Pick<ResponseColumns, "response_body" | "response_is_base64"> {
  if (response === null) return { response_body: null, response_is_base64: false };
  const bytes = Buffer.from(response.body);
  const text = textOf(bytes, response.truncated);
  return {
    response_body: text ?? bytes.toString("base64"),
    response_is_base64: text === undefined,
  };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** The maximum number of bytes of an incomplete UTF-8 character at the end of a truncated body. */
const maxCutBytes = 3;

/**
 * Decodes UTF-8 text, or returns undefined for other data. An incomplete character at the end of a
 * truncated body is dropped. Text with NUL counts as other data, because PostgreSQL cannot store
 * NUL.
 */
function textOf(bytes: Uint8Array, truncated: boolean): string | undefined {
  for (let cut = 0; cut <= (truncated ? maxCutBytes : 0); cut++) {
    try {
      const text = utf8.decode(bytes.subarray(0, Math.max(0, bytes.length - cut)));
      return text.includes("\0") ? undefined : text;
    } catch {
      // The loop tries again without the last byte.
    }
  }
  return undefined;
}
