import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { SummaryReporter } from "./test/summary-reporter.ts";
import { entries } from "./tsup.config.ts";

/** Tests of examples and docs import `tidings` as users do, and get the sources. */
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
    // Most of the time goes into waiting: for a disk, a server, a process.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ["default", new SummaryReporter()],
  },
});
