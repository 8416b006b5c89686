import type { Runtime } from "../operations/index.ts";
import { eraseHistory } from "./erase-history.ts";
import { moveHistory } from "./move-history.ts";
import { inChunks, type JobTable } from "../queue/index.ts";

/** Both finish what a procedure began when its process ended early. */
export const contactJobs: Pick<JobTable<Runtime>, "merge" | "erase"> = {
  merge: inChunks((tx, { contact_id }) => moveHistory(tx, contact_id)),
  erase: inChunks((tx, { contact_id }) => eraseHistory(tx, contact_id)),
};
