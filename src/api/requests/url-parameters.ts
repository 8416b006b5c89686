/** The parameters of a URL, in its path and its query. */
import { TidingsError } from "../../kernel/index.ts";

/** Path parameters by name. */
export type Params = Readonly<Record<string, string>>;

/** The query parameter for a visitor's token when it cannot be sent as a header. */
export const tokenField = "token";

/**
 * Decodes path parameters.
 * @throws TidingsError `malformed_request` when one is not percent-encoded UTF-8
 */
export function decodedParams(params: Params): Params {
  const isEncoded = Object.values(params).some((value) => value.includes("%"));
  if (!isEncoded) return params;
  return Object.fromEntries(
    Object.entries(params).map(([name, each]) => [name, percentDecoded(each)]),
  );
}

/**
 * Decodes the parameters of a query. A repeated parameter becomes a list. `__proto__` is an
 * ordinary name.
 */
export function parseQuery(query: string): Readonly<Record<string, string | readonly string[]>> {
  if (query === "") return {};
  // `URLSearchParams` would replace what it cannot decode.
  percentDecoded(query);
  // It skips one question mark at the start.
  const byName = Map.groupBy(new URLSearchParams(`?${query}`), ([name]) => name);
  return Object.fromEntries(
    [...byName].map(([name, pairs]) => {
      const [first = "", ...others] = pairs.map(([, value]) => value);
      return [name, others.length === 0 ? first : [first, ...others]];
    }),
  );
}

/** @throws TidingsError `malformed_request` when it is not percent-encoded UTF-8 */
function percentDecoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TidingsError("malformed_request", "The URL is not valid percent-encoded UTF-8.");
  }
}
