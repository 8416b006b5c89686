import type { Scope } from "../kernel/index.ts";
import type { HandleMethod, HandleTable, ScopedRunner } from "../operations/index.ts";

/** Creates a handle with the methods of `table`. */
export function createHandle(
  table: HandleTable,
  scope: Scope,
  runner: ScopedRunner,
): { readonly scope: Scope } {
  const handle: Record<string, unknown> = {};
  for (const name in table) {
    const entry = table[name];
    handle[name] = typeof entry === "function" ? entry(runner) : createMethods(entry, runner);
  }
  return { ...handle, scope };
}

function createMethods(
  group: Readonly<Record<string, HandleMethod>> | undefined,
  runner: ScopedRunner,
): object {
  const methods: Record<string, unknown> = {};
  for (const name in group) methods[name] = group[name]?.(runner);
  return methods;
}
