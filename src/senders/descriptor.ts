import { defaultSenders, senderHandOvers, senders, senderThrottles } from "./rows.ts";
import { senderRoutes } from "./routes.ts";
import { releaseThrottled } from "./release-throttled.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  type Module,
  query,
  type Runtime,
} from "../operations/index.ts";
import { inTransaction, type JobTable } from "../queue/index.ts";
import { createSender, removeSender, updateSender } from "./commands.ts";
import { listSenders } from "./reads.ts";

const senderHandles = {
  senders: {
    create: command(createSender),
    list: query(listSenders),
    update: commandByIdAndInput(updateSender),
    remove: commandById(removeSender),
  },
};

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
