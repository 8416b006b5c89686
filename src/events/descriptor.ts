import type { Module } from "../operations/index.ts";
import type { JobTable } from "../queue/index.ts";
import { callConsumer } from "./consumers/call-consumer.ts";
import type { ConsumerRuntime } from "./consumers/consumers.ts";
import { continueRemoval } from "./consumers/remove-consumer.ts";
import { consumerEvents, consumers } from "./consumers/rows.ts";
import { events } from "./rows.ts";

const jobs: Pick<JobTable<ConsumerRuntime>, "consume" | "remove-consumer"> = {
  consume: callConsumer,
  "remove-consumer": continueRemoval,
};

export const eventsModule: Module<typeof jobs> = {
  collections: [events, consumers, consumerEvents],
  jobs,
  tags: [{ name: "Events", description: "Everything that happened, as a list and as a stream." }],
};
