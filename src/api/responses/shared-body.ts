/** Bodies that are the same for every client: made once, and not sent to a client that has them. */
import { hash } from "node:crypto";
import { headerOf, type ApiResponse, type Exchange } from "../http.ts";

/** Bytes with their entity tag (RFC 9110, section 8.8.3). */
export interface SharedBody {
  readonly bytes: Uint8Array;
  readonly tag: string;
}

const utf8 = new TextEncoder();

export function sharedBody(text: string): SharedBody {
  const bytes = utf8.encode(text);
  return { bytes, tag: tagOf(bytes) };
}

/** Returns the strong entity tag of a body. Other bytes have another tag. */
export function tagOf(bytes: Uint8Array): string {
  return `"${hash("sha256", bytes, "base64url")}"`;
}

/**
 * Responds with a body, or with 304 if the client has it. The client may store it, and has to ask
 * each time whether it is current.
 */
export function respondWithShared(
  { request, headers }: Exchange,
  { bytes, tag }: SharedBody,
  type: string,
): ApiResponse {
  headers["Cache-Control"] = "no-cache";
  headers["ETag"] = tag;
  if (hasCurrentBody(request.headers, tag)) return { status: 304, headers, body: null };
  headers["Content-Type"] = type;
  return { status: 200, headers, body: bytes };
}

/**
 * Whether the client of a GET or HEAD has the body with this tag (`If-None-Match`: RFC 9110,
 * section 13.1.2). A proxy that compresses responses makes their tags weak. The comparison ignores
 * that.
 */
export function hasCurrentBody(headers: readonly string[], tag: string): boolean {
  const known = headerOf(headers, "if-none-match");
  if (known === undefined) return false;
  return known.split(",").some((each) => {
    const one = each.trim();
    return one === "*" || one === tag || one === `W/${tag}`;
  });
}
