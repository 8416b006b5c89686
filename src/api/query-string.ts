import { TidingsError } from "../kernel/index.ts";

/** The parameters of a query, decoded. One that is repeated is a list; `__proto__` is a name like any other. */
export function parseQuery(query: string): Readonly<Record<string, string | readonly string[]>> {
  if (query === "") return {};
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? "" : decode(pair.slice(equals + 1));
    const all = values.get(name);
    if (all === undefined) values.set(name, [value]);
    else all.push(value);
  }
  const scalar = (all: readonly string[]): string | readonly string[] =>
    all.length === 1 ? (all[0] ?? "") : all;
  return Object.fromEntries([...values].map(([name, all]) => [name, scalar(all)]));
}

const decode = (text: string): string =>
  percentDecoded(text.includes("+") ? text.replaceAll("+", " ") : text);

/** @throws TidingsError `malformed_request` when it is not percent-encoded UTF-8 */
export function percentDecoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TidingsError("malformed_request", "The URL is not valid percent-encoded UTF-8.");
  }
}
