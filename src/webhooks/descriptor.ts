import {
  eventRoutes,
  eventStream,
  getEvent,
  listEvents,
  type ListEvents,
  type StreamEvents,
  type StreamQuery,
} from "../events/index.ts";
import { pageSchema, type ById, type Page } from "../kernel/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  list,
  listById,
  method,
  queryById,
  type ApiRoute,
  type CommandOptions,
  type EventStream,
  type Module,
  type Query,
  type StreamItem,
  type StreamOptions,
  type TransientItem,
} from "../operations/index.ts";
import { createWebhook, removeWebhook, rotateWebhookSecret, updateWebhook } from "./commands.ts";
import {
  deliverySchema,
  deliveryWithAttemptsSchema,
  deliveryWithBodySchema,
} from "./deliveries/delivery-types.ts";
import { recoverWebhook } from "./deliveries/recover.ts";
import { redeliver } from "./deliveries/redeliver.ts";
import { anyEventSchema, type Event } from "./event-catalog.ts";
import { webhookJobs } from "./jobs.ts";
import { getDelivery, getWebhook, listDeliveries, listWebhooks } from "./reads.ts";
import { cursors, deliveries, deliveryAttempts, webhookPatterns, webhooks } from "./rows.ts";
import { webhookSchema, webhookWithSecretSchema } from "./types.ts";

const read = { tag: "Webhooks", scopes: ["webhooks:read"] } as const;
const write = { tag: "Webhooks", scopes: ["webhooks:write"] } as const;

const webhookRoutes: readonly ApiRoute[] = [
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks",
    operation: createWebhook,
    summary: "Create a webhook",
    description:
      "The secret is returned only in this response. The webhook receives events from now on. " +
      "Each is a POST request with an `Event` as its body, signed as Standard Webhooks describe. " +
      "The section `webhooks` of this document has the request of each event type.",
    response: webhookWithSecretSchema,
    example: {
      url: "https://example.com/hooks",
      events: ["message.*", "contact.opted_out"],
      description: "Order service",
    },
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks",
    operation: listWebhooks,
    summary: "List webhooks",
    description: "Returns the newest first.",
    response: pageSchema(webhookSchema).meta({ id: "WebhookPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks/:id",
    operation: getWebhook,
    summary: "Get a webhook",
    response: webhookSchema,
  },
  {
    ...write,
    method: "PATCH",
    path: "/v1/webhooks/:id",
    operation: updateWebhook,
    summary: "Update a webhook",
    description:
      "Also pauses and enables the webhook. Pending deliveries go to the new URL, and a pause " +
      "that the old URL asked for ends. With `fifo` ordering, the first pending delivery goes to " +
      "the new URL at once, or when an attempt at the old URL that is under way has failed. A " +
      "new event filter applies to later events only.",
    response: webhookSchema,
    example: { url: "https://example.com/new-hooks", status: "enabled" },
  },
  {
    ...write,
    method: "DELETE",
    path: "/v1/webhooks/:id",
    operation: removeWebhook,
    summary: "Delete a webhook",
    description: "Also deletes its deliveries. No further request is started.",
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/rotate-secret",
    operation: rotateWebhookSecret,
    summary: "Rotate a webhook's secret",
    description:
      "The old secret still signs for the grace period. An older secret stops signing now.",
    response: webhookWithSecretSchema,
    example: { grace_seconds: 3_600 },
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks/:id/deliveries",
    operation: listDeliveries,
    summary: "List a webhook's deliveries",
    description: "Returns the newest first, each with its latest 5 attempts.",
    response: pageSchema(deliveryWithAttemptsSchema).meta({ id: "DeliveryPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/webhooks/:id/deliveries/:delivery_id",
    operation: getDelivery,
    summary: "Get a delivery",
    description: "Includes the request body and every attempt.",
    response: deliveryWithBodySchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/deliveries/:delivery_id/redeliver",
    operation: redeliver,
    summary: "Redeliver a delivery",
    description:
      "Makes one attempt in addition to the retry schedule, whatever the delivery's status. A " +
      "second request before that attempt has ended changes nothing. With `fifo` ordering, the " +
      "attempt waits until the deliveries that are pending now have ended, unless they wait for " +
      "this one.",
    response: deliverySchema,
  },
  {
    ...write,
    method: "POST",
    path: "/v1/webhooks/:id/recover",
    operation: recoverWebhook,
    summary: "Recover failed deliveries",
    description:
      "Makes one attempt for each failed delivery that was created since the given time. A " +
      "second request while the first one is still being processed makes no second attempt, " +
      "unless its time is earlier. For a delivery that fails while the first request is being " +
      "processed, make another request after that.",
    response: webhookSchema,
    example: { since: "2026-01-31T00:00:00Z" },
  },
];

const webhookHandles = {
  webhooks: {
    create: command(createWebhook),
    get: queryById(getWebhook),
    list: list(listWebhooks),
    update: commandByIdAndInput(updateWebhook),
    remove: commandById(removeWebhook),
    rotateSecret: commandByIdAndInput(rotateWebhookSecret),
    deliveries: listById(listDeliveries),
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
    list: list(listEvents as Query<ListEvents, Page<Event>>),
    stream: method(
      ({ open }) =>
        (input: StreamEvents = {}, options?: StreamOptions) =>
          open(eventStream as EventStream<StreamQuery, Event>, joined(input), eventOf, options),
    ),
  },
};

/** The schema expects the types as they are over HTTP: one text. */
function joined(input: unknown): unknown {
  const isList = typeof input === "object" && input !== null && "types" in input;
  return isList && Array.isArray(input.types) ? { ...input, types: input.types.join(",") } : input;
}

function eventOf(item: StreamItem<Event> | TransientItem): Event | undefined {
  // Copied, because streams share their items.
  return "value" in item ? structuredClone(item.value) : undefined;
}

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
