/** Options of the handlers that mount the `/v1` API. */
export interface MountOptions {
  /**
   * The path before `/v1`, such as `/api`. It must begin with a slash and must not end with one;
   * otherwise a `TypeError` is thrown.
   * @default ""
   */
  readonly basePath?: string;
}

/**
 * Returns a function that strips the base path from a URL's path and query. It returns null for a
 * URL outside the base path.
 */
export function stripBasePath({ basePath = "" }: MountOptions): (target: string) => string | null {
  if (basePath !== "" && !/^(?:\/[^/?#\s]+)+$/.test(basePath)) {
    const given = JSON.stringify(basePath);
    throw new TypeError(
      `basePath: expected a path like "/api" without a final slash, got ${given}`,
    );
  }
  const prefix = `${basePath}/`;
  return (target) => (target.startsWith(prefix) ? target.slice(basePath.length) : null);
}

/** Whether a path belongs to the `/v1` API. The framework's other routes handle the rest. */
export const isApiPath = (target: string): boolean => /^\/v1(?:[/?]|$)/.test(target);
