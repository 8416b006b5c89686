import { writeSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a run with `N passed, N failed`, alone on the last line. A file that can't be loaded and an error outside of any test
 * count as failed.
 */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const states = modules.flatMap((each) =>
      [...each.children.allTests()].map((one) => one.result().state),
    );
    const passed = states.filter((state) => state === "passed").length;
    const broken = modules.flatMap((each) => each.errors()).length + unhandled.length;
    const failed = states.filter((state) => state === "failed").length + broken;
    const summary = `\n${passed} passed, ${failed} failed\n`;
    // Past vitest's own hold on standard output, and after all that it still says.
    process.on("exit", () => writeSync(1, summary));
  }
}
