/**
 * The package's entry `tidings/ports`: the interfaces between the engine and the outside, for
 * authors of storages, transports, models, HTTP clients, languages, clocks and mounts. Each name is
 * in one entry. What resources and callers share with these interfaces, such as `Channel`, `Media`,
 * `Json` and `TidingsError`, is in `tidings`.
 */

// A storage.
export {
  type Access,
  type Add,
  type Admission,
  type AdmissionRequest,
  type Group,
  type Insert,
  type Lookup,
  type Range,
  type Reader,
  type RemoveOrHold,
  type Row,
  type Search,
  type SearchedWord,
  type SignalLine,
  type StorageCapabilities,
  StorageConflict,
  type StorageConflictOptions,
  type StoragePort,
  StorageRefusal,
  type Update,
  type Write,
} from "../src/ports/storage.ts";
export type {
  Collection,
  CollectionKind,
  Column,
  Columns,
  ColumnType,
  Condition,
  Index,
  KeyValue,
  Schema,
  UniqueIndex,
  WordIndex,
} from "../src/ports/collection.ts";
export type { EngineLock, EngineLocks } from "../src/ports/engine-locks.ts";

// A transport.
export type {
  AcceptedAnswer,
  AmbiguousAnswer,
  Attempt,
  CallbackRequest,
  CallbackResponse,
  CallbackResult,
  CarriedMessage,
  FoundMessage,
  InboundKeyword,
  InboundMessage,
  LookupAnswer,
  LookupContext,
  NotSent,
  OutboundMessage,
  Receipt,
  ReceiptSubject,
  ReceiptTimes,
  RejectedAnswer,
  ReportedReceipt,
  SendAnswer,
  SendContext,
  SimilarMessages,
  TestNumber,
  Transport,
  TransportCapabilities,
  TransportContext,
  TransportSink,
  UnknownOutcome,
} from "../src/ports/transport.ts";
export type { CarrierError, CarrierErrorCode } from "../src/ports/carrier-errors.ts";

// A model.
export {
  type AgentModel,
  type ModelAction,
  type ModelAgent,
  type ModelAnswer,
  type ModelAnswerTask,
  type ModelCall,
  type ModelCallAwaitingApproval,
  type ModelCallDone,
  type ModelCallFailed,
  type ModelCallRequest,
  type ModelContact,
  type ModelExtractTask,
  type ModelHandoff,
  type ModelInstructTask,
  type ModelKnowledge,
  type ModelMessage,
  type ModelObservation,
  type ModelPlaybook,
  type ModelSlot,
  type ModelTask,
  type ModelTurn,
  type ModelUsage,
  type RespondOptions,
  UnusableResult,
} from "../src/ports/agent-model.ts";

// An HTTP client, and the transports that use one.
export {
  type AllowedUrl,
  checkAddress,
  checkUrl,
  type DestinationOptions,
  type DestinationRefusal,
  type Destinations,
  destinations,
  hostOf,
  publicOnly,
  type RefusedUrl,
  type UrlCheck,
} from "../src/ports/destinations.ts";
export type {
  HttpAnswer,
  HttpClient,
  HttpFailure,
  HttpFailureCode,
  HttpOutcome,
  HttpPhase,
  HttpRequest,
  HttpResponse,
} from "../src/ports/http-client.ts";

// What else the engine's options take.
export type { Clock, SleepOptions } from "../src/ports/clock.ts";
export type { DateContext, Language, Passage, RankedPassage } from "../src/ports/language.ts";
export type { Random } from "../src/ports/random.ts";
export type { SentimentAnalyzer } from "../src/ports/sentiment.ts";

// A mount.
export type { ApiBody, ApiHandler, ApiRequest, ApiResponse, Mountable } from "../src/api/index.ts";
