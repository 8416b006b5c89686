export {
  appendEvent,
  completedEventId,
  eventById,
  eventResource,
  type EventRow,
  events,
  eventsByPosition,
  eventsOfAccount,
  eventsOfContact,
  handoffEventId,
  receivedEventId,
  rewriteEvent,
} from "./rows.ts";
export { EventBus } from "./bus.ts";
export { LiveSignals } from "./live-signals.ts";
export { EventFeed } from "./event-feed.ts";
export { LogWatcher } from "./log-watcher.ts";
export { eraseConsumerErrors, eraseConsumerErrorsOfKeys } from "./consumer-events.ts";
export type {
  ConsumeOptions,
  ConsumerContext,
  ConsumerRuntime,
  EventConsumer,
  ParkedEvent,
} from "./consumer-types.ts";
export { type Consumer, Consumers } from "./consumers.ts";
export { eventRoutes } from "./descriptor.ts";
export { eventStream, follow, type StreamBatch, type StreamEvents, typingItem } from "./stream.ts";
export { Follower, type Step } from "./follower.ts";
export { getEvent, listEvents } from "./reads.ts";
export { eventReaper } from "./reap-events.ts";
export {
  type EventEnvelope,
  defineEvent,
  envelopeSchema,
  type EventDefinition,
  type EventType,
  eventTypes,
  adviceForType,
  eventTypeSchema,
  type ListEvents,
} from "./types.ts";
