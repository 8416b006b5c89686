import type { Scope } from "../../kernel/index.ts";
import type { HandleTable, ScopedRunner } from "../../operations/index.ts";

/** Returns a function that creates handles with the methods of `table`. */
export function handleFactory(
  table: HandleTable,
): (scope: Scope, runner: ScopedRunner) => { readonly scope: Scope } {
  // Host applications may create a handle for each request, so the table is listed only once.
  const entries = Object.entries(table).map(([name, entry]) =>
    typeof entry === "function"
      ? { name, define: entry }
      : { name, methods: Object.entries(entry) },
  );
  return (scope, runner) => {
    const handle: Record<string, unknown> & { readonly scope: Scope } = { scope };
    for (const { name, define, methods } of entries) {
      if (define !== undefined) {
        handle[name] = define(runner);
        continue;
      }
      const group: Record<string, unknown> = {};
      for (const [method, defineMethod] of methods) group[method] = defineMethod(runner);
      handle[name] = group;
    }
    return handle;
  };
}
