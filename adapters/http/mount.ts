export interface MountOptions {
  /** The path above `/v1`, such as `/api`. By default none. */
  readonly basePath?: string;
}

/** Says what of a URL's path and query lies below the mount point; null when it lies elsewhere. */
export function below({ basePath = "" }: MountOptions): (target: string) => string | null {
  if (basePath !== "" && !/^(?:\/[^/?#\s]+)+$/.test(basePath)) {
    throw new TypeError(
      `basePath: expected a path like "/api", without a slash at its end, got ${JSON.stringify(basePath)}`,
    );
  }
  const prefix = `${basePath}/`;
  return (target) => (target.startsWith(prefix) ? target.slice(basePath.length) : null);
}

/** Whether a path is one of ours, so that a framework's other routes are left to it. */
export const isOurs = (target: string): boolean => /^\/v1(?:[/?]|$)/.test(target);
