import { defaultSenders, senderHandOvers, senderThrottles, senders } from "./rows.ts";
import { senderHandles } from "./handles.ts";
import { senderRoutes } from "./routes.ts";
import { releaseThrottled } from "./release-throttled.ts";
import type { Module, Runtime } from "../operations/index.ts";
import { inTransaction, type JobTable } from "../queue/index.ts";

const jobs: Pick<JobTable<Runtime>, "throttle"> = { throttle: inTransaction(releaseThrottled) };

export const sendersModule: Module<typeof jobs, typeof senderHandles> = {
  jobs,
  collections: [senders, defaultSenders, senderThrottles, senderHandOvers],
  tags: [
    {
      name: "Senders",
      description: "The numbers and webchat inboxes that messages are sent from.",
    },
  ],
  routes: senderRoutes,
  handles: senderHandles,
};
