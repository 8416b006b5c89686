/** Paths of requests, below a mount point. */
import type { Mountable } from "../../src/api/index.ts";
import type { MountOptions } from "./mount.ts";

/**
 * Returns the path and query of a request target. Clients send the absolute form, with a scheme and
 * an authority, to a proxy, and every server must accept it (RFC 9112, section 3.2.2).
 */
export function originForm(target = "/"): string {
  if (target.startsWith("/")) return target;
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return rest === "" || rest.startsWith("?") ? `/${rest}` : rest;
}

/** Splits a request target at the question mark. */
export function pathAndQuery(target: string): readonly [path: string, query: string] {
  const mark = target.indexOf("?");
  return mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)];
}

/**
 * Returns a function that strips the base path from a URL's path and query. It returns null for a
 * URL outside the base path. For the base path itself, it returns only the query.
 */
export function stripBasePath({ basePath = "" }: MountOptions): (target: string) => string | null {
  return (target) => {
    if (!target.startsWith(basePath)) return null;
    const rest = target.slice(basePath.length);
    return rest === "" || rest.startsWith("/") || rest.startsWith("?") ? rest : null;
  };
}

/** Whether the engine or page handles a path below the mount point, and not the host's routes. */
export function isOwnPath({ paths = "v1" }: Mountable, target: string): boolean {
  return paths === "all" || /^\/v1(?:[/?]|$)/.test(target);
}
