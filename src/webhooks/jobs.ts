import type { WebhookRuntime } from "./options.ts";
import { discardDeliveries } from "./discard-deliveries.ts";
import { inChunks, type JobTable } from "../queue/index.ts";
import { deliver } from "./deliver-job.ts";
import { recoverDeliveries } from "./recover-job.ts";

export const webhookJobs: Pick<JobTable<WebhookRuntime>, "deliver" | "recover" | "discard"> = {
  deliver,
  recover: recoverDeliveries,
  discard: inChunks((tx, { webhook_id }) => discardDeliveries(tx, webhook_id)),
};
