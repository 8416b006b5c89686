import { writeSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Prints `N passed, N failed` as the last line. A file that cannot be loaded and an error outside
 * of tests count as failures.
 */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const states = modules.flatMap((each) =>
      [...each.children.allTests()].map((one) => one.result().state),
    );
    const passed = states.filter((state) => state === "passed").length;
    const errors = modules.flatMap((each) => each.errors()).length + unhandled.length;
    const failed = states.filter((state) => state === "failed").length + errors;
    const summary = `\n${passed} passed, ${failed} failed\n`;
    // Written on exit and directly to stdout, since vitest intercepts stdout and prints more after
    // this.
    process.on("exit", () => writeSync(1, summary));
  }
}
