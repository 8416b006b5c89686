import { getEvent, listEvents } from "./reads.ts";
import type { z } from "zod";
import type { AnyEvent } from "./types.ts";
import { pageSchema } from "../kernel/index.ts";
import { eventStream } from "./stream.ts";
import type { Route } from "../operations/index.ts";

const read = { tag: "Events", scopes: ["events:read"] } as const;

/** `event` is the schema of every event. */
export const eventRoutes = (event: z.ZodType<AnyEvent>): readonly Route[] => [
  {
    ...read,
    method: "GET",
    path: "/v1/events",
    operation: listEvents,
    summary: "List events",
    description: "Newest first.",
    response: pageSchema(event).meta({ id: "EventPage" }),
  },
  {
    ...read,
    method: "GET",
    path: "/v1/events/stream",
    operation: eventStream,
    summary: "Follow events",
    description:
      "As they are committed, in their order. A client that comes again with `Last-Event-ID` misses nothing.",
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
