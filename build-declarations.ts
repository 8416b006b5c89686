/**
 * Bundles the declarations that `tsc` has written to `dist/types` into one file for each entry and
 * one for all of `src`, so that each class is declared only once. They have what the entries export
 * and what that needs: no schemas, and so no types of zod.
 */
import { rm } from "node:fs/promises";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import { entries } from "./tsup.config.ts";

const paths = Object.values(entries).map((source) => source.replace(/\.ts$/, ""));

const bundle = await rollup({
  input: Object.fromEntries(paths.map((path) => [path, `dist/types/${path}.d.ts`])),
  external: /^node:/,
  plugins: [dts()],
  // It warns about types that an entry uses and none exports. An application names none of them.
  logLevel: "silent",
});
await rm("dist/types", { recursive: true });
await bundle.write({
  dir: "dist/types",
  entryFileNames: "[name].d.ts",
  chunkFileNames: "chunk-[hash].d.ts",
  manualChunks: (path) => (/[\\/]types[\\/]src[\\/]/.test(path) ? "src" : undefined),
  minifyInternalExports: false,
});
