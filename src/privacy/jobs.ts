import type { Runtime } from "../operations/index.ts";
import { inChunks, type JobTable } from "../queue/index.ts";
import { eraseAddress, eraseHistory } from "./erase-history.ts";
import { moveHistory } from "./move-history.ts";
import { reap } from "./reap.ts";
import { removeQuotesInPages } from "./remove-quotes-in-pages.ts";

type PrivacyJobs = "merge" | "erase" | "erase-address" | "redact" | "reap";

export const privacyJobs: Pick<JobTable<Runtime>, PrivacyJobs> = {
  reap,
  redact: removeQuotesInPages,

  // These finish a merge or an erasure whose process ended early.
  merge: inChunks((tx, { contact_id }, { services }) =>
    moveHistory(tx, contact_id, services.historyChunks),
  ),
  erase: inChunks((tx, { contact_id }, { services }) => eraseHistory(tx, contact_id, services)),
  "erase-address": inChunks((tx, { hash }, { services }) =>
    eraseAddress(tx, hash, services.historyChunks),
  ),
};
