/** Starts worker threads. What they and the main thread send each other is plain data. */
import { Worker } from "node:worker_threads";
import type { Step } from "../writes/steps.ts";

/** How much of the database to check when it is opened. */
export type Check = "quick" | "full";

/** What a thread gets when it starts. */
export interface ThreadData {
  readonly file: string;
  /** The thread only checks the pages. It sends the damage that it finds, or an empty text. */
  readonly check?: Check;
}

/** What a thread that commits receives: the steps of a group, or the request to close the file. */
export type WorkerRequest = readonly Step[] | "close";

/** What such a thread sends. `ready` comes once, then one response for each group. */
export type WorkerResponse = "ready" | "committed" | Failure;

/**
 * Why the thread could not commit a group: the collection of a row that has changed, or an error of
 * SQLite.
 */
export type Failure =
  { readonly changed: string } | { readonly errcode: number | undefined; readonly message: string };

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
