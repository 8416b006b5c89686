import { pageSchema } from "../kernel/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  list,
  type ApiRoute,
  type Module,
  type Runtime,
} from "../operations/index.ts";
import { inTransaction, type JobTable } from "../queue/index.ts";
import { createSender, removeSender, updateSender } from "./commands.ts";
import { listSenders } from "./reads.ts";
import { releaseThrottled } from "./release-throttled.ts";
import {
  defaultSenders,
  senderChannels,
  senderHandOvers,
  senders,
  senderThrottles,
} from "./rows.ts";
import { senderSchema } from "./types.ts";

const manage = { tag: "Senders", scopes: ["senders:manage"] } as const;

const senderRoutes: readonly ApiRoute[] = [
  {
    ...manage,
    method: "POST",
    path: "/v1/senders",
    operation: createSender,
    summary: "Create a sender",
    response: senderSchema,
    example: {
      address: "+15005550010",
      channels: ["sms", "mms"],
      transport: "sandbox",
      messages_per_second: 10,
    },
  },
  {
    ...manage,
    method: "GET",
    path: "/v1/senders",
    operation: listSenders,
    summary: "List senders",
    description: "Newest first.",
    response: pageSchema(senderSchema).meta({ id: "SenderPage" }),
  },
  {
    ...manage,
    method: "PATCH",
    path: "/v1/senders/:id",
    operation: updateSender,
    summary: "Update a sender",
    response: senderSchema,
    example: { default: true, daily_cap: 2_000 },
  },
  {
    ...manage,
    method: "DELETE",
    path: "/v1/senders/:id",
    operation: removeSender,
    summary: "Delete a sender",
    description:
      "Queued messages from it still go out. If it is the default sender of a channel, the " +
      "oldest other sender of the channel replaces it.",
  },
];

const senderHandles = {
  senders: {
    create: command(createSender),
    list: list(listSenders),
    update: commandByIdAndInput(updateSender),
    remove: commandById(removeSender),
  },
};

const jobs: Pick<JobTable<Runtime>, "throttle"> = { throttle: inTransaction(releaseThrottled) };

export const sendersModule: Module<typeof jobs, typeof senderHandles> = {
  jobs,
  collections: [senders, senderChannels, defaultSenders, senderThrottles, senderHandOvers],
  tags: [
    {
      name: "Senders",
      description: "The numbers and webchat inboxes that messages are sent from.",
    },
  ],
  routes: senderRoutes,
  handles: senderHandles,
};
