import type { Event } from "./event-catalog.ts";
import { getDelivery, getWebhook, listDeliveries, listWebhooks } from "./reads.ts";
import { recoverWebhook, redeliver } from "./redeliver.ts";
import {
  createWebhook,
  removeWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from "./webhook-commands.ts";
import { getEvent, type ListEvents, listEvents } from "../events/index.ts";
import type { ById, Page } from "../kernel/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  type CommandOptions,
  method,
  query,
  type Query,
  queryById,
} from "../operations/index.ts";

export const webhookHandles = {
  webhooks: {
    create: command(createWebhook),
    get: queryById(getWebhook),
    list: query(listWebhooks),
    update: commandByIdAndInput(updateWebhook),
    remove: commandById(removeWebhook),
    rotateSecret: commandByIdAndInput(rotateWebhookSecret),
    deliveries: queryById(listDeliveries),
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
