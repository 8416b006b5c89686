import type { HttpOutcome, HttpResponse } from "../ports/index.ts";
import type { DeliveryAttemptRow } from "./rows.ts";

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

/** What is kept of an exchange. Where what was sent has been erased or redacted since, nothing that may quote it. */
export function responseColumns(
  outcome: HttpOutcome,
  { isWithdrawn }: { readonly isWithdrawn: boolean },
): ResponseColumns {
  const response = outcome.outcome === "answered" ? outcome : outcome.partial;
  return {
    address: outcome.address,
    status_code: response?.status ?? null,
    error: errorOf(outcome),
    response_headers: isWithdrawn ? {} : (response?.headers ?? {}),
    ...bodyColumns(isWithdrawn ? null : response),
    response_truncated: response?.truncated ?? false,
  };
}

/** A code for each way in which an attempt can fail; null where it succeeded. */
function errorOf(outcome: HttpOutcome): string | null {
  if (outcome.outcome === "failed") return outcome.code;
  if (outcome.status >= 200 && outcome.status < 300) return null;
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
/** Bytes of a character of which the end may be missing where a body was cut. */
const mostOfCharacter = 3;

/** Undefined of what is no text. What was cut within a character is read up to it. NUL is no text: PostgreSQL keeps none. */
function textOf(bytes: Uint8Array, truncated: boolean): string | undefined {
  for (let cut = 0; cut <= (truncated ? mostOfCharacter : 0); cut++) {
    try {
      const text = utf8.decode(bytes.subarray(0, Math.max(0, bytes.length - cut)));
      return text.includes("\0") ? undefined : text;
    } catch {
      // Tried again without the last byte.
    }
  }
  return undefined;
}
