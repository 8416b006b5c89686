import { notFound } from "../../errors.ts";
import { firstIdAt } from "../../ids.ts";
import type { Query } from "../../operation.ts";
import { mapPage, page } from "../../pagination.ts";
import { type ById, byIdSchema, type Page } from "../../fields.ts";
import { millis } from "../time.ts";
import { eventResource } from "./resource.ts";
import { eventById, events } from "./rows.ts";
import { type Event, type ListEvents, listEventsSchema } from "./types.ts";

export const getEvent: Query<ById, Event> = {
  kind: "query",
  name: "events.get",
  input: () => byIdSchema,
  async run(reads, { id }, { scope }) {
    const event = await reads.get(eventById, [scope.account_id, scope.mode, id]);
    if (event === undefined) throw notFound("event");
    return eventResource(event);
  },
};

/** Newest first. */
export const listEvents: Query<ListEvents, Page<Event>> = {
  kind: "query",
  name: "events.list",
  input: () => listEventsSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const { type, created_after, created_before } = filters;
    const walk = {
      index: events.primary,
      prefix: [call.scope.account_id, call.scope.mode],
      order: "descending" as const,
      ...(type === undefined ? {} : { where: { type } }),
      ...(created_before === undefined ? {} : { after: [firstIdAt("evt", millis(created_before))] }),
      ...(created_after === undefined ? {} : { until: [firstIdAt("evt", millis(created_after) + 1)] }),
      operation: "events.list",
      filters,
      input: { limit, cursor },
    };
    return mapPage(await page(reads, walk, call), eventResource);
  },
};
