import type { Runtime } from "../operations/runtime.ts";
import { eraseHistory } from "./erase-history.ts";
import { moveHistory } from "./move-history.ts";
import type { JobTable } from "../queue/job.ts";
import { inChunks } from "../queue/transactional-jobs.ts";

/** Both finish what a procedure began when its process ended early. */
export const contactJobs: Pick<JobTable<Runtime>, "merge" | "erase"> = {
  merge: inChunks((tx, { contact_id }) => moveHistory(tx, contact_id)),
  erase: inChunks((tx, { contact_id }) => eraseHistory(tx, contact_id)),
};
