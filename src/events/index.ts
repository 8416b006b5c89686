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
export type { AccountOf } from "./handler-context.ts";
export { LiveSignals } from "./streams/live-signals.ts";
export { EventFeed } from "./streams/event-feed.ts";
export { LogWatcher } from "./streams/log-watcher.ts";
export { eraseConsumerErrors, eraseConsumerErrorsOfKeys } from "./consumers/queued-events.ts";
export type {
  ConsumeOptions,
  ConsumerBacklog,
  EventConsumer,
  ParkedEvent,
} from "./consumers/types.ts";
export { type Consumer, type ConsumerRuntime, Consumers } from "./consumers/consumers.ts";
export { eventRoutes } from "./routes.ts";
export {
  eventStream,
  type StreamEvents,
  type StreamQuery,
  typingItem,
} from "./streams/event-stream.ts";
export { follow, type StreamBatch } from "./streams/follow.ts";
export { getEvent, listEvents } from "./reads.ts";
export { eventReaper } from "./reap-events.ts";
export {
  type EventEnvelope,
  defineEvent,
  envelopeSchema,
  type EventDefinition,
  eventSchemaId,
  type EventType,
  eventTypeName,
  eventTypes,
  adviceForType,
  eventTypeSchema,
  type ListEvents,
} from "./types.ts";
