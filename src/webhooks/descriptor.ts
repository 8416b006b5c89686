import { anyEventSchema, type Event } from "./event-catalog.ts";
import { webhookJobs } from "./jobs.ts";
import { webhookRoutes } from "./routes.ts";
import { cursors, deliveries, deliveryAttempts, webhookPatterns, webhooks } from "./rows.ts";
import { eventRoutes, getEvent, type ListEvents, listEvents } from "../events/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  type CommandOptions,
  method,
  type Module,
  query,
  type Query,
  queryById,
  queryByIdAndInput,
} from "../operations/index.ts";
import { getDelivery, getWebhook, listDeliveries, listWebhooks } from "./reads.ts";
import { recoverWebhook, redeliver } from "./redeliver.ts";
import {
  createWebhook,
  removeWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from "./webhook-commands.ts";
import type { ById, Page } from "../kernel/index.ts";

const webhookHandles = {
  webhooks: {
    create: command(createWebhook),
    get: queryById(getWebhook),
    list: query(listWebhooks),
    update: commandByIdAndInput(updateWebhook),
    remove: commandById(removeWebhook),
    rotateSecret: commandByIdAndInput(rotateWebhookSecret),
    deliveries: queryByIdAndInput(listDeliveries),
    delivery: method(
      ({ read }) =>
        (id: string, delivery_id: string) =>
          read(getDelivery, { id, delivery_id }),
    ),
    redeliver: method(
      ({ change }) =>
        (id: string, delivery_id: string, options?: CommandOptions) =>
          change(redeliver, { id, delivery_id }, options),
    ),
    recover: commandByIdAndInput(recoverWebhook),
  },
  // The types of all events are known here, as for the routes of events. The casts are safe: only
  // `appendEvent` writes events, with the data of their type.
  events: {
    get: queryById(getEvent as Query<ById, Event>),
    list: query(listEvents as Query<ListEvents, Page<Event>>),
  },
};

export const webhooksModule: Module<typeof webhookJobs, typeof webhookHandles> = {
  collections: [webhooks, webhookPatterns, deliveries, deliveryAttempts, cursors],
  jobs: webhookJobs,
  tags: [
    {
      name: "Webhooks",
      description: "Endpoints that receive events, and a record of every delivery attempt.",
    },
  ],
  // The schema of all events is known here: the catalog names the events of every lower module.
  routes: [...webhookRoutes, ...eventRoutes(anyEventSchema)],
  handles: webhookHandles,
};
