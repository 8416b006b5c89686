/** How many random cases a run of the tests tries. */
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The share of the random cases that this run tries, from 0 to 1. */
    readonly share: number;
  }
}

/** How many of `all` random cases to try: all in `npm run test:long`, some in `npm test`. */
export function runs(all: number): number {
  return Math.min(all, Math.max(3, Math.ceil(all * inject("share"))));
}
