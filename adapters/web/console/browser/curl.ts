/** Requests as commands for a terminal. */

/** A request to `/v1`. */
export interface ApiRequest {
  readonly method: string;
  /** The path and query, such as `/v1/messages?limit=20`. */
  readonly path: string;
  /** The JSON body. Null for none. */
  readonly body: unknown;
}

/** The `curl` command that makes a request with an API key. */
export function curlOf({ method, path, body }: ApiRequest): string {
  const lines = [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quoted(`${location.origin}${path}`)}`,
    `-H "Authorization: Bearer $TIDINGS_KEY"`,
  ];
  if (body !== null && body !== undefined) {
    lines.push(
      `-H ${quoted("Content-Type: application/json")}`,
      `-d ${quoted(JSON.stringify(body))}`,
    );
  }
  return lines.join(" \\\n  ");
}

/** A word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
