import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { SummaryReporter } from "./test/summary-reporter.ts";
import { entries } from "./tsup.config.ts";

const sources = Object.fromEntries(
  Object.entries(entries).map(([name, source]) => [
    name === "index" ? "tidings" : `tidings/${name}`,
    new URL(source, import.meta.url).href,
  ]),
);

export default defineConfig(({ mode }) => ({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/openapi-client/**"],
    pool: "forks",
    // Tests leave much garbage. More room for young objects makes its collection cheaper.
    execArgv: ["--max-semi-space-size=64"],
    // Node itself imports the sources. Code that Vite has transformed is slower: each use of an
    // imported name calls a getter.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Each worker imports the sources once. Tests undo what they change of the process.
    isolate: false,
    setupFiles: ["test/support/setup/sources.ts", "test/support/setup/no-strays.ts"],
    globalSetup: ["scratch", "postgres", "chromium"].map((each) => `test/support/setup/${each}.ts`),
    // One more than a small machine has cores: many tests wait for a server or another process.
    maxWorkers: 3,
    // `share` is that of the random cases that properties and simulations try. `sources` has the
    // source of each entry of the package.
    provide: { share: mode === "long" ? 1 : 0.1, sources },
    sequence: { sequencer: LongestFirst },
    // Time-outs end only what hangs, on a slow machine too: the slowest test takes 12 s, and minutes
    // in the long form. A wait inside a test ends earlier, since its error says what was awaited.
    testTimeout: mode === "long" ? 900_000 : 120_000,
    hookTimeout: mode === "long" ? 900_000 : 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    reporters: ["default", new SummaryReporter()],
  },
}));
