/** Resolves `tidings` to the sources, for tests of the examples and the documentation. */
import { registerHooks } from "node:module";
import { afterAll, inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the source of each entry of the package, by what imports name. */
    readonly sources: Readonly<Record<string, string>>;
  }
}

const sources = inject("sources");
const hooks = registerHooks({
  resolve: (specifier, context, next) => next(sources[specifier] ?? specifier, context),
});
// Each test file registers them again.
afterAll(() => hooks.deregister());
