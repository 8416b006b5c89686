/** What `npm test` leaves out of what `npm run test:long` tries. */
import { inject, test } from "vitest";
import type { StorageCase } from "./storage/storages.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The share of the random cases that this run tries, from 0 to 1. */
    readonly share: number;
  }
}

/** Whether this run is `npm run test:long`, which tries everything. */
export const isLong = inject("share") === 1;

/** A test of something rare. `npm test` reports it as skipped. */
export const longTest = isLong ? test : test.skip;

/** How many of `all` random cases to try. `npm test` tries a share of them, at least `least`. */
export function runs(all: number, least = 3): number {
  return Math.min(all, Math.max(least, Math.ceil(all * inject("share"))));
}

/** The same on a storage. On PostgreSQL, where each case takes long, one is enough. */
export function runsOn(
  name: StorageCase["name"],
  all: Readonly<Record<StorageCase["name"], number>>,
): number {
  return runs(all[name], name === "PostgreSQL" ? 1 : 3);
}

/**
 * How far the points are apart that a test tries one after the other. `npm test` tries every
 * `apart`-th of them.
 */
export function pointsApart(apart: number): number {
  return isLong ? 1 : apart;
}

/** The cases to try. `npm test` tries those for which `few` is true: the ones that differ most. */
export function cases<Case>(all: readonly Case[], few: (each: Case) => boolean): readonly Case[] {
  const tried = isLong ? all : all.filter(few);
  // Without any case, a table of tests would be left out unnoticed, as after a case is renamed.
  if (tried.length === 0) throw new Error(`npm test would try none of ${all.length} cases.`);
  return tried;
}
