import type { Mountable } from "../../src/api/index.ts";
import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
} from "../../src/kernel/index.ts";

/** Options of the handlers that mount the `/v1` API or a page. */
export interface MountOptions {
  /**
   * The path before `/v1`, or of the page, such as `/api`. It must begin with a slash and must not
   * end with one. It is percent-encoded, as in a URL: `/caf%C3%A9`.
   * @default ""
   */
  readonly basePath?: string | undefined;
}

const engineOption = option<Mountable>(
  "a MessagingEngine or a page, such as inboxHandler(engine)",
  (engine) => hasMethods(memberOf(engine, "api"), "handle"),
);

/** The characters of a path segment (RFC 3986, section 3.3). Clients send no others. */
const segments = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\dA-Fa-f]{2})+)*$/;

/** Clients remove these segments, so no request would reach the path. */
const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

const basePath = option<string>(
  'a path like "/api" or "/caf%C3%A9" without a final slash',
  (path) => typeof path === "string" && segments.test(path) && !dotSegment.test(path),
  {
    isQuoted: true,
    advice: (path) =>
      typeof path === "string" && dotSegment.test(path)
        ? '. Clients remove "." and ".." from a path.'
        : "",
  },
).optional();

const mountSchema = optionsObject({ engine: engineOption, options: optionsObject({ basePath }) });

const fetchMountSchema = optionsObject({
  engine: engineOption,
  options: optionsObject({
    basePath,
    remoteAddress: option<(request: Request) => string | undefined>(
      "a function that returns the address of a request's client",
      (value) => typeof value === "function",
    ).optional(),
  }),
});

const mountWithoutPathSchema = optionsObject({ engine: engineOption });

/**
 * Checks the arguments of a handler. `subject` is its name.
 * @throws TidingsError `invalid_option`
 */
export function checkMount(subject: string, engine: Mountable, options: MountOptions): void {
  parseOptions(`${subject}: `, mountSchema, { engine, options });
}

/**
 * Checks the arguments of a handler that may be given a function for clients' addresses.
 * @throws TidingsError `invalid_option`
 */
export function checkFetchMount(subject: string, engine: Mountable, options: object): void {
  parseOptions(`${subject}: `, fetchMountSchema, { engine, options });
}

/**
 * Checks the arguments of a handler whose framework strips the base path.
 * @throws TidingsError `invalid_option`
 */
export function checkEngine(subject: string, engine: Mountable): void {
  parseOptions(`${subject}: `, mountWithoutPathSchema, { engine });
}

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
