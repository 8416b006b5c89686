/**
 * A worker thread. It commits the groups that a `BackgroundWriter` sends, one by one, or checks the
 * pages of the database once.
 */
import { parentPort, workerData } from "node:worker_threads";
import { StorageConflict } from "../../../src/ports/index.ts";
import type { ThreadData, WorkerRequest, WorkerResponse } from "./background-writer.ts";
import { connect, Connection, rollBack } from "./connection.ts";
import { findDamage } from "./damage.ts";
import { runSteps } from "./writes.ts";

const { file, check } = workerData as ThreadData;
const handle = await connect(file);
// This thread can block until another process's transaction ends, because nothing else runs here.
handle.exec("PRAGMA busy_timeout = 5000");
const connection = new Connection(handle);

if (check === undefined) commitGroups();
else {
  parentPort?.postMessage(findDamage(connection, check));
  handle.close();
}

function commitGroups(): void {
  parentPort?.on("message", (message: WorkerRequest) => {
    if (message === "close") {
      handle.close();
      parentPort?.close();
    } else {
      parentPort?.postMessage(commit(message));
    }
  });
  parentPort?.postMessage("ready" satisfies WorkerResponse);
}

function commit(steps: Exclude<WorkerRequest, "close">): WorkerResponse {
  try {
    connection.statement("BEGIN IMMEDIATE").run();
    runSteps(steps, connection);
    connection.statement("COMMIT").run();
    return "committed";
  } catch (error) {
    rollBack(handle);
    if (error instanceof StorageConflict) return { conflict: error.message };
    const { message, errcode } = error as { readonly message: string; readonly errcode?: number };
    return { message, errcode };
  }
}
