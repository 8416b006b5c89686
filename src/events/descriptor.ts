import { getEvent, listEvents } from "./reads.ts";
import type * as z from "zod";
import type { EventEnvelope } from "./types.ts";
import { pageSchema } from "../kernel/index.ts";
import { eventStream } from "./streams/event-stream.ts";
import type { ApiRoute, Module } from "../operations/index.ts";
import { callConsumer } from "./consumers/call-consumer.ts";
import { consumerEvents, consumers } from "./consumers/rows.ts";
import type { ConsumerRuntime } from "./consumers/types.ts";
import { continueRemoval } from "./consumers/remove-consumer.ts";
import { events } from "./rows.ts";
import type { JobTable } from "../queue/index.ts";

const read = { tag: "Events", scopes: ["events:read"] } as const;

/** `event` is the schema of all events. */
export const eventRoutes = (event: z.ZodType<EventEnvelope>): readonly ApiRoute[] => [
  {
    ...read,
    method: "GET",
    path: "/v1/events",
    operation: listEvents,
    summary: "List events",
    description: "Returns the newest first.",
    response: pageSchema(event).meta({ id: "EventPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/events/stream",
    operation: eventStream,
    summary: "Stream events",
    description:
      "Sends events in the order in which they were committed. The `data` of each is an `Event`, " +
      "with the `id` and the type of that event as its `id` and its `event`. A client that " +
      "reconnects with `Last-Event-ID` misses none.",
  },
  {
    ...read,
    method: "GET",
    path: "/v1/events/:id",
    operation: getEvent,
    summary: "Get an event",
    response: event,
  },
];

const jobs: Pick<JobTable<ConsumerRuntime>, "consume" | "remove-consumer"> = {
  consume: callConsumer,
  "remove-consumer": continueRemoval,
};

export const eventsModule: Module<typeof jobs> = {
  collections: [events, consumers, consumerEvents],
  jobs,
  tags: [{ name: "Events", description: "Everything that happened, as a list and as a stream." }],
};
