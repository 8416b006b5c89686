export {
  action,
  type Action,
  type ActionContext,
  type ActionSchema,
  actionOption,
  type SchemaIssue,
  type SchemaResult,
} from "./action.ts";
export {
  type AgentModel,
  type Json,
  type ModelAction,
  type ModelAnswer,
  type ModelCall,
  type ModelHandoff,
  type ModelMessage,
  type ModelSlot,
  type ModelTask,
  type ModelTurn,
  type ModelUsage,
  UnusableResult,
} from "./agent-model.ts";
export {
  added,
  boolean,
  collection,
  integer,
  json,
  nullable,
  position,
  real,
  scoped,
  text,
  time,
} from "./define-collection.ts";
export {
  type Collection,
  type Column,
  columnsOf,
  type ColumnType,
  type Condition,
  type Index,
  keyOf,
  type KeyValue,
  orderOf,
  type ScopedColumns,
  scopedKeyOf,
  positionColumnOf,
  type RowOf,
  type Schema,
  schemaOf,
  type ScopedCollection,
  type ScopedIndex,
  type ScopedUniqueIndex,
  type Seen,
  type UniqueIndex,
  type WordIndex,
} from "./collection.ts";
export { compareValues } from "./compare-values.ts";
export {
  checkAddress,
  checkUrl,
  type DestinationOptions,
  destinations,
  type Destinations,
  hostOf,
  publicOnly,
  type Refusal,
} from "./destinations.ts";
export {
  type HttpAnswer,
  type HttpClient,
  type HttpFailure,
  type HttpFailureCode,
  type HttpOutcome,
  type HttpPhase,
  type HttpRequest,
  type HttpResponse,
  maxHeaderBytes,
} from "./http-client.ts";
export type { EngineLock, EngineLocks } from "./engine-locks.ts";
export type { Clock, SleepOptions } from "./clock.ts";
export { errorFacts, errorLogger, type Logger, silent, withoutMessage } from "./logger.ts";
export type { Random } from "./random.ts";
export {
  type DateContext,
  type Language,
  languageMethods,
  type Passage,
  type RankedPassage,
} from "./language.ts";
export { analyzerName, type SentimentAnalyzer } from "./sentiment.ts";
export {
  type HostVerdicts,
  type NamedVerdict,
  type Policy,
  type PolicyFacts,
  type Verdict,
} from "./policy.ts";
export type { Route } from "./route.ts";
export {
  type Access,
  type Admission,
  type AdmissionRequest,
  type Group,
  type Lookup,
  type Range,
  type Reader,
  type Row,
  type Search,
  type SearchedWord,
  type SignalLine,
  type StorageCapabilities,
  StorageConflict,
  type StorageConflictOptions,
  type StoragePort,
  StorageRefusal,
  type Write,
} from "./storage.ts";
export {
  type CallbackRequest,
  type CallbackResult,
  type CarriedMessage,
  type InboundKeyword,
  type InboundMessage,
  type LookupAnswer,
  type LookupContext,
  maxCallbackBytes,
  type Media,
  type OutboundMessage,
  type Receipt,
  type ReceiptSubject,
  type ReceiptTimes,
  type RejectedAnswer,
  type SendAnswer,
  type SendContext,
  type Transport,
  type TransportCapabilities,
  type TransportContext,
  type TransportSink,
  webchatTransportName,
} from "./transport.ts";
export {
  type CarrierError,
  type CarrierErrorCode,
  carrierErrorCodes,
  permanentErrorCodes,
} from "./carrier-errors.ts";
