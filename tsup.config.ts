import { copyFile, cp, readdir, readFile } from "node:fs/promises";
import { defineConfig } from "tsup";

/** The package's exports by subpath. A test compares them with the `exports` of `package.json`. */
export const entries = {
  index: "adapters/entry.ts",
  ports: "adapters/ports.ts",
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
export const threads = { "sqlite-worker": "adapters/storage/sqlite/thread/worker.ts" };

/**
 * Libraries that are built into the package and are not installed with it. Their code loads faster
 * that way: that of temporal-polyfill is in one file, and the messages of zod in some 50 languages
 * are left out.
 */
export const builtIn = ["temporal-polyfill", "zod"];

/** Marks the code of a library that is built into a file, such as `// node_modules/zod/`. */
const libraryCode = /^\/\/ node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm;

/** Returns the names of the libraries that are built into the package. */
export async function bundledLibraries(): Promise<readonly string[]> {
  const files = (await readdir("dist")).filter((name) => name.endsWith(".js"));
  const texts = await Promise.all(files.map((name) => readFile(`dist/${name}`, "utf8")));
  const names = texts.flatMap((text) =>
    [...text.matchAll(libraryCode)].map(([, name = ""]) => name),
  );
  return [...new Set(names)].toSorted();
}

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
  esbuildOptions: (options) => {
    // Files that only others of the package import are named alike.
    options.chunkNames = "chunk-[hash]";
    // The maps turn stack traces into lines of the sources. The text of the sources would be a third
    // of the package.
    options.sourcesContent = false;
  },
  // Imports are evaluated in their order, so the check comes before anything that an old Node lacks.
  banner: { js: `import "./${versionCheck}";` },
  noExternal: builtIn,
  // `build-descriptions.ts` writes it.
  external: ["#descriptions"],
  async onSuccess() {
    await copyFile(versionCheck, `dist/${versionCheck}`);
    for (const name of await bundledLibraries()) {
      await copyFile(`node_modules/${name}/LICENSE`, `dist/${name}.LICENSE`);
    }
    await cp("adapters/cli/dev/demo", "dist/demo", { recursive: true });
  },
  // Other runtimes know the modules of Node only with the prefix.
  removeNodeProtocol: false,
  sourcemap: true,
  clean: true,
  // `tsc -p tsconfig.build.json` writes the declarations, and `build-declarations.ts` bundles them.
  dts: false,
});
