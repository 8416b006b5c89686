import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { SummaryReporter } from "./test/summary-reporter.ts";
import { entries } from "./tsup.config.ts";

/** Resolves `tidings` to the sources, for tests of the examples and the documentation. */
const alias = Object.entries(entries).map(([name, source]) => ({
  find: new RegExp(`^tidings${name === "index" ? "" : `/${name}`}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}));

export default defineConfig({
  resolve: { alias },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/openapi-client/**"],
    pool: "forks",
    setupFiles: ["test/support/no-strays.ts"],
    globalSetup: ["test/support/scratch-setup.ts", "test/support/postgres-setup.ts"],
    // More workers hardly help: tests mostly wait for disks, servers and processes.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ["default", new SummaryReporter()],
  },
});
