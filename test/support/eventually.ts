import { vi } from "vitest";

/** Resolves when `check` no longer throws. Its deadline only ends what hangs, on the slowest machine too. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 120_000, interval: 20 });
}
