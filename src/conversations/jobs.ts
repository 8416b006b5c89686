import type { Runtime } from "../operations/runtime.ts";
import { wakeConversation } from "./wake.ts";
import type { JobTable } from "../queue/job.ts";
import { inTransaction } from "../queue/transactional-jobs.ts";

export const conversationJobs: Pick<JobTable<Runtime>, "wake"> = {
  wake: inTransaction((tx, claim, { drawId }) => wakeConversation(tx, claim, drawId)),
};
