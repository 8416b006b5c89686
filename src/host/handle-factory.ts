import type { Scope } from "../kernel/index.ts";
import type { HandleTable, ScopedRunner } from "../operations/index.ts";

/**
 * Returns a function that creates handles with the methods of `table`. Host applications may create
 * a handle for each request, so a handle creates the methods of a group when the group is first
 * used.
 */
export function handleFactory(
  table: HandleTable,
): (scope: Scope, runner: ScopedRunner) => { readonly scope: Scope } {
  class Handle {
    readonly scope: Scope;
    readonly #runner: ScopedRunner;
    readonly #used: Record<string, unknown> = {};

    constructor(scope: Scope, runner: ScopedRunner) {
      this.scope = scope;
      this.#runner = runner;
    }

    static {
      for (const [name, entry] of Object.entries(table)) {
        Object.defineProperty(Handle.prototype, name, {
          get(this: Handle): unknown {
            return (this.#used[name] ??= createMethods(entry, this.#runner));
          },
        });
      }
    }
  }
  return (scope, runner) => new Handle(scope, runner);
}

function createMethods(entry: HandleTable[string], runner: ScopedRunner): unknown {
  if (typeof entry === "function") return entry(runner);
  const methods: Record<string, unknown> = {};
  for (const name in entry) methods[name] = entry[name]?.(runner);
  return methods;
}
