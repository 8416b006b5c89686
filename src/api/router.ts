import type { ApiRoute, Method } from "../operations/index.ts";

export type Match =
  | {
      readonly kind: "route";
      readonly route: ApiRoute;
      readonly params: Readonly<Record<string, string>>;
    }
  /** The path exists, but not with this method. `visitor`: pages of other origins may call it. */
  | { readonly kind: "methods"; readonly allow: readonly string[]; readonly visitor: boolean }
  | { readonly kind: "unknown" };

interface Branch {
  readonly literal: Map<string, Branch>;
  parameter: Branch | undefined;
  readonly routes: Map<string, { readonly route: ApiRoute; readonly names: readonly string[] }>;
}

const branch = (): Branch => ({ literal: new Map(), parameter: undefined, routes: new Map() });
const unknown: Match = { kind: "unknown" };
const noParams = {};

/**
 * Matches a path segment by segment. A literal segment wins over a parameter, without backtracking:
 * `/v1/messages/preview` is never the message "preview". A trailing slash, an empty segment or `..`
 * matches nothing.
 * @throws TypeError when two routes match the same request
 */
export function router(routes: readonly ApiRoute[]): (method: string, path: string) => Match {
  const root = branch();
  for (const route of routes) add(root, route);

  return (method, path) => {
    if (path[0] !== "/") return unknown;
    let at: Branch | undefined = root;
    const values: string[] = [];
    for (let start = 1; at !== undefined && start <= path.length;) {
      const slash = path.indexOf("/", start);
      const end = slash === -1 ? path.length : slash;
      const segment = path.slice(start, end);
      const literal: Branch | undefined = at.literal.get(segment);
      if (literal !== undefined) at = literal;
      else {
        at = segment === "" ? undefined : at.parameter;
        values.push(segment);
      }
      start = end + 1;
    }
    if (at === undefined || at.routes.size === 0) return unknown;
    const found = at.routes.get(method) ?? (method === "HEAD" ? at.routes.get("GET") : undefined);
    if (found === undefined) {
      const visitor = at.routes.values().some(({ route }) => "visitor" in route);
      return { kind: "methods", allow: allowed([...at.routes.keys()]), visitor };
    }
    const params =
      values.length === 0
        ? noParams
        : Object.fromEntries(found.names.map((name, i) => [name, values[i] ?? ""]));
    return { kind: "route", route: found.route, params };
  };
}

function add(root: Branch, route: ApiRoute): void {
  let at = root;
  for (const segment of route.path.slice(1).split("/")) {
    if (segment.startsWith(":")) {
      at = at.parameter ??= branch();
      continue;
    }
    const next = at.literal.get(segment) ?? branch();
    at.literal.set(segment, next);
    at = next;
  }
  const taken = at.routes.get(route.method);
  if (taken !== undefined) {
    throw new TypeError(
      `${route.method} ${route.path} and ${taken.route.path} take the same requests`,
    );
  }
  at.routes.set(route.method, { route, names: parameterNames(route.path) });
}

export function parameterNames(path: string): string[] {
  return path
    .split("/")
    .filter((segment) => segment.startsWith(":"))
    .map((segment) => segment.slice(1));
}

const order: readonly (Method | "HEAD")[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

function allowed(methods: readonly string[]): readonly string[] {
  const all = methods.includes("GET") ? [...methods, "HEAD"] : methods;
  return [...order.filter((method) => all.includes(method)), "OPTIONS"];
}
