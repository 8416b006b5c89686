import { Worker } from "node:worker_threads";
import type { ThreadData } from "./thread-messages.ts";

/**
 * Starts a thread with a connection to the file. Undefined if the process may not start threads.
 */
export function startThread(workerData: ThreadData): Worker | undefined {
  // The sources run as TypeScript, the package as built.
  const name = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./sqlite-worker.js";
  try {
    return new Worker(new URL(name, import.meta.url), { workerData });
  } catch {
    return undefined;
  }
}
