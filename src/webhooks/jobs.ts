import type { WebhookRuntime } from "./options.ts";
import { discardDeliveries } from "./discard-deliveries.ts";
import type { JobTable } from "../queue/job.ts";
import { deliver } from "./deliver-job.ts";
import { inChunks } from "../queue/transactional-jobs.ts";
import { recoverDeliveries } from "./recover-job.ts";

export const webhookJobs: Pick<JobTable<WebhookRuntime>, "deliver" | "recover" | "discard"> = {
  deliver,
  recover: recoverDeliveries,
  discard: inChunks((tx, { webhook_id }) => discardDeliveries(tx, webhook_id)),
};
