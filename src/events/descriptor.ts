import { events } from "./rows.ts";
import { consumerEvents, consumers } from "./consumer-rows.ts";
import type { Module } from "../operations/index.ts";

export const eventsModule: Module = {
  collections: [events, consumers, consumerEvents],
  tags: [{ name: "Events", description: "What happened, as a list and as a stream." }],
};
