import { vi } from "vitest";

/** Resolves when `check` no longer throws. The deadline only ends checks that hang. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 20 });
}
