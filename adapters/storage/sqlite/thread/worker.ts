/**
 * A worker thread. It commits the groups that a `BackgroundWriter` sends, one by one, or checks the
 * pages of the database once. It imports as little as possible, because a thread loads its modules
 * anew each time it starts. So it reports errors as plain data.
 */
import { parentPort, workerData } from "node:worker_threads";
import {
  Connection,
  connectionSettings,
  openFile,
  refuseReadOnly,
  rollBack,
} from "../connections/connection.ts";
import { findDamage } from "../damage/find-damage.ts";
import { runSteps } from "../writes/steps.ts";
import type { ThreadData, WorkerRequest, WorkerResponse } from "./start-thread.ts";

const { file, check } = workerData as ThreadData;
const handle = openFile(file);
// This thread can block until another process's transaction ends, because nothing else runs here.
handle.exec(`PRAGMA busy_timeout = 5000; ${connectionSettings}`);
const connection = new Connection(handle);

if (check === undefined) {
  refuseReadOnly(handle);
  commitGroups();
} else {
  parentPort?.postMessage(findDamage(connection, check));
  end();
}

function commitGroups(): void {
  parentPort?.on("message", (message: WorkerRequest) => {
    if (message === "close") end();
    else parentPort?.postMessage(commit(message));
  });
  parentPort?.postMessage("ready" satisfies WorkerResponse);
}

/** Ends the thread, even if a module that the application preloads in each thread goes on. */
function end(): void {
  handle.close();
  process.exit();
}

function commit(steps: Exclude<WorkerRequest, "close">): WorkerResponse {
  try {
    connection.statement("BEGIN IMMEDIATE").run();
    const changed = runSteps(steps, connection);
    if (changed === undefined) {
      connection.statement("COMMIT").run();
      return "committed";
    }
    rollBack(handle);
    return { changed };
  } catch (error) {
    rollBack(handle);
    const { message, errcode } = error as { readonly message: string; readonly errcode?: number };
    return { message, errcode };
  }
}
