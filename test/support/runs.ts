/** How many random cases a run of the tests tries. */
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The share of the random cases that this run tries, from 0 to 1. */
    readonly share: number;
  }
}

/** Whether this run is `npm run test:long`, which tries everything. */
export const isLong = inject("share") === 1;

/** How many of `all` random cases to try. `npm test` tries a share of them, and at least three. */
export function runs(all: number): number {
  return Math.min(all, Math.max(3, Math.ceil(all * inject("share"))));
}

/** The cases to try. `npm test` tries those for which `few` is true: the ones that differ most. */
export function cases<Case>(all: readonly Case[], few: (each: Case) => boolean): readonly Case[] {
  const tried = isLong ? all : all.filter(few);
  // Without any case, a table of tests would be left out unnoticed, as after a case is renamed.
  if (tried.length === 0) throw new Error(`npm test would try none of ${all.length} cases.`);
  return tried;
}
