import type { Mountable } from "../../src/api/index.ts";
import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
} from "../../src/kernel/index.ts";

/** Options of the handlers that mount the `/v1` API. */
export interface MountOptions {
  /**
   * The path before `/v1`, such as `/api`. It must begin with a slash and must not end with one.
   * @default ""
   */
  readonly basePath?: string;
}

const engineOption = option<Mountable>("a MessagingEngine", (engine) =>
  hasMethods(memberOf(engine, "api"), "handle"),
);

const mountSchema = optionsObject({
  engine: engineOption,
  options: optionsObject({
    basePath: option<string>(
      'a path like "/api" without a final slash',
      (path) => typeof path === "string" && /^(?:\/[^/?#\s]+)*$/.test(path),
      { isQuoted: true },
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
 * Checks the arguments of a handler whose framework strips the base path.
 * @throws TidingsError `invalid_option`
 */
export function checkEngine(subject: string, engine: Mountable): void {
  parseOptions(`${subject}: `, mountWithoutPathSchema, { engine });
}

/**
 * Returns a function that strips the base path from a URL's path and query. It returns null for a
 * URL outside the base path.
 */
export function stripBasePath({ basePath = "" }: MountOptions): (target: string) => string | null {
  const prefix = `${basePath}/`;
  return (target) => (target.startsWith(prefix) ? target.slice(basePath.length) : null);
}

/** Whether a path belongs to the `/v1` API. The framework's other routes handle the rest. */
export const isApiPath = (target: string): boolean => /^\/v1(?:[/?]|$)/.test(target);
