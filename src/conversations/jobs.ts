import type { Runtime } from "../operations/index.ts";
import { wakeConversation } from "./wake.ts";
import { inTransaction, type JobTable } from "../queue/index.ts";

export const conversationJobs: Pick<JobTable<Runtime>, "wake"> = {
  wake: inTransaction((tx, claim, { drawId }) => wakeConversation(tx, claim, drawId)),
};
