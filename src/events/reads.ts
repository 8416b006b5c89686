import { byIdSchema, notFound, type ById, type Page } from "../kernel/index.ts";
import { mapPage, page, type Query } from "../operations/index.ts";
import { eventById, eventResource, eventsOfAccount } from "./rows.ts";
import { listEventsSchema, type EventEnvelope, type ListEvents } from "./types.ts";

export const getEvent: Query<ById, EventEnvelope> = {
  kind: "query",
  name: "events.get",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const event = await reads.get(eventById, [id]);
    if (event === undefined) throw notFound("event", id);
    return eventResource(event);
  },
};

/** Returns the newest first, in commit order. */
export const listEvents: Query<ListEvents, Page<EventEnvelope>> = {
  kind: "query",
  name: "events.list",
  input: () => listEventsSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const { type } = filters;
    const list = {
      index: eventsOfAccount,
      prefix: [],
      order: "descending" as const,
      ...(type === undefined ? {} : { where: { type } }),
      operation: "events.list",
      filters,
      input: { limit, cursor },
    };
    return mapPage(await page(reads, list, call), eventResource);
  },
};
