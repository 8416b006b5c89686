import type * as z from "zod";
import type { EventEnvelope } from "./types.ts";
import { pageSchema } from "../kernel/index.ts";
import type { ApiRoute } from "../operations/index.ts";
import { getEvent, listEvents } from "./reads.ts";
import { eventStream } from "./streams/event-stream.ts";

const read = { tag: "Events", scopes: ["events:read"] } as const;

/**
 * Returns the endpoints of events. `event` is the schema of all events. The descriptor of webhooks
 * adds them, because only a module above those that publish events knows it.
 */
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
