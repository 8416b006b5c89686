import type * as z from "zod";
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

/**
 * Checks the arguments of a handler. `subject` is its name, and `others` has its options besides
 * `basePath`.
 * @throws TidingsError `invalid_option`
 */
export function checkMount(
  subject: string,
  engine: Mountable,
  options: object = {},
  others: z.ZodRawShape = {},
): void {
  const optionsOption = optionsObject({ basePath, ...others });
  const schema = optionsObject({ engine: engineOption, options: optionsOption });
  parseOptions(`${subject}: `, schema, { engine, options });
}
