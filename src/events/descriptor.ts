import { callConsumer } from "./call-consumer.ts";
import { consumerEvents, consumers } from "./consumer-rows.ts";
import type { ConsumerRuntime } from "./consumer-types.ts";
import { events } from "./rows.ts";
import type { Module } from "../operations/index.ts";
import type { JobTable } from "../queue/index.ts";

const jobs: Pick<JobTable<ConsumerRuntime>, "consume"> = { consume: callConsumer };

export const eventsModule: Module<typeof jobs> = {
  collections: [events, consumers, consumerEvents],
  jobs,
  tags: [{ name: "Events", description: "Everything that happened, as a list and as a stream." }],
};
