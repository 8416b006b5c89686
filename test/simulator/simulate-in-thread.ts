/** The program of a thread of `run-seeds.ts`. */
import { parentPort } from "node:worker_threads";
import type { Task } from "./run-seeds.ts";
import { simulate } from "./simulate.ts";

// Faults cause thousands of errors, and a failure is explained by the trace, not by their stacks.
Error.stackTraceLimit = 5;

parentPort?.on("message", ({ seed, steps }: Task) => {
  void simulate(seed, steps).then(
    (result) => parentPort?.postMessage(result),
    (error: unknown) => {
      throw error;
    },
  );
});
