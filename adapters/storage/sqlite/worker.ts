/** The thread of a `BackgroundWriter`: commits what it is sent, group by group. */
import { parentPort, workerData } from "node:worker_threads";
import { StorageConflict } from "../../../src/ports/storage.ts";
import type { FromThread, ToThread } from "./background-writer.ts";
import { Connection } from "./handle.ts";
import { rollBack } from "./migrations.ts";
import { connect } from "./open.ts";
import { take } from "./writes.ts";

const handle = await connect(String(workerData));
// This thread may wait for another process's transaction: nothing else runs here.
handle.exec("PRAGMA busy_timeout = 5000");
const connection = new Connection(handle);

parentPort?.on("message", (message: ToThread) => {
  if (message === "close") {
    handle.close();
    parentPort?.close();
  } else {
    parentPort?.postMessage(answer(message));
  }
});
parentPort?.postMessage("ready" satisfies FromThread);

function answer(steps: Exclude<ToThread, "close">): FromThread {
  try {
    connection.statement("BEGIN IMMEDIATE").run();
    take(steps, connection);
    connection.statement("COMMIT").run();
    return "committed";
  } catch (error) {
    rollBack(handle);
    if (error instanceof StorageConflict) return { conflict: error.message };
    const { message, errcode } = error as { readonly message: string; readonly errcode?: number };
    return { message, errcode };
  }
}
