import { copyFile, cp } from "node:fs/promises";
import { defineConfig } from "tsup";

/** The package's exports by subpath. A test compares them with the `exports` of `package.json`. */
export const entries = {
  index: "adapters/entry.ts",
  standard: "adapters/standard.ts",
  memory: "adapters/storage/memory/index.ts",
  sqlite: "adapters/storage/sqlite/index.ts",
  postgres: "adapters/storage/postgres/index.ts",
  sandbox: "adapters/transport/sandbox/index.ts",
  twilio: "adapters/transport/twilio/index.ts",
  telnyx: "adapters/transport/telnyx/index.ts",
  "http-client": "adapters/http-client/index.ts",
  system: "adapters/system/index.ts",
  sentiment: "adapters/sentiment/index.ts",
  language: "adapters/language/index.ts",
  models: "adapters/models/index.ts",
  express: "adapters/http/express.ts",
  koa: "adapters/http/koa.ts",
  node: "adapters/http/node.ts",
  fetch: "adapters/http/fetch.ts",
  inbox: "adapters/web/inbox/server/index.ts",
  console: "adapters/web/console/server/index.ts",
  widget: "adapters/web/widget/server/index.ts",
  transactions: "adapters/transactions/index.ts",
  testing: "adapters/testing/index.ts",
};

/** Commands: the `bin` of `package.json`. */
export const programs = { cli: "adapters/cli/main.ts" };

/** Worker threads: separate files that are not exported. */
export const threads = { "sqlite-worker": "adapters/storage/sqlite/worker.ts" };

/**
 * Libraries whose used parts are built into the package, since loading all of them takes much
 * longer. zod also loads the messages of some 50 languages, and temporal-polyfill several files. The
 * declarations still import them.
 */
export const bundled = ["zod", "temporal-polyfill"];

/** The file that refuses an old Node. Each built file imports it. */
export const versionCheck = "node-version.js";

export default defineConfig({
  entry: { ...entries, ...programs, ...threads },
  outDir: "dist",
  format: "esm",
  platform: "node",
  target: "node22",
  // Code that entries share must exist only once, since `instanceof` compares error classes.
  splitting: true,
  // Files that only others of the package import are named alike.
  esbuildOptions: (options) => {
    options.chunkNames = "chunk-[hash]";
  },
  // Imports are evaluated in their order, so the check comes before anything that an old Node lacks.
  banner: { js: `import "./${versionCheck}";` },
  noExternal: bundled,
  async onSuccess() {
    await copyFile(versionCheck, `dist/${versionCheck}`);
    for (const name of bundled) {
      await copyFile(`node_modules/${name}/LICENSE`, `dist/${name}.LICENSE`);
    }
    await cp("adapters/cli/dev/demo", "dist/demo", { recursive: true });
  },
  // Other runtimes know the modules of Node only with the prefix.
  removeNodeProtocol: false,
  sourcemap: true,
  clean: true,
  // `tsc -p tsconfig.build.json` writes the declarations.
  dts: false,
});
