import type * as z from "zod";
import { pageSchema } from "../kernel/index.ts";
import type { ApiRoute } from "../operations/index.ts";
import { getEvent, listEvents } from "./reads.ts";
import { eventStream } from "./streams/event-stream.ts";
import type { EventEnvelope } from "./types.ts";

const kept = "Events are kept for 30 days, or as the option `eventRetentionDays` says.";

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
    description: `Returns the newest first. ${kept}`,
    response: pageSchema(event).meta({ id: "EventPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/events/stream",
    operation: eventStream,
    summary: "Stream events",
    description:
      "Sends events in the order in which they were committed, from now on. The `data` of each " +
      "is an `Event`, with the `id` and the type of that event as its `id` and its `event`. A " +
      "client that reconnects with `Last-Event-ID` misses none. If that event is no longer kept, " +
      "the response is 422. A comment every 15 seconds keeps an idle connection open. The stream " +
      "of a client that is 1,000 new events behind is closed, so that it reconnects. A key may " +
      "have 100 open streams in each process, and an account 1,000.",
  },
  {
    ...read,
    method: "GET",
    path: "/v1/events/:id",
    operation: getEvent,
    summary: "Get an event",
    description: kept,
    response: event,
  },
];
