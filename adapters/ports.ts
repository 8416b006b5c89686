/**
 * The package's entry `tidings/ports`: what authors of storages, transports, models, HTTP clients,
 * languages, clocks and mounts need besides `tidings`. Each name is in one entry. An interface that
 * an option of the engine takes, such as `Transport`, is in `tidings`: the compiler must be able to
 * name it in the declarations of an application, which may import no other entry.
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
  Scoping,
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
  TransportCapabilities,
  TransportContext,
  TransportSink,
  UnknownOutcome,
} from "../src/ports/transport.ts";
export type { CarrierError, CarrierErrorCode } from "../src/ports/carrier-errors.ts";

// A model.
export {
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
  type IpAddress,
  type IpNetwork,
  type RefusedUrl,
  type UrlCheck,
} from "../src/ports/destinations.ts";
export type {
  HttpAnswer,
  HttpFailure,
  HttpFailureCode,
  HttpOutcome,
  HttpPhase,
  HttpRequest,
  HttpResponse,
} from "../src/ports/http-client.ts";

// A clock and a language.
export type { SleepOptions } from "../src/ports/clock.ts";
export type { DateContext, Passage, RankedPassage } from "../src/ports/language.ts";

// A mount.
export type { MountOptions } from "./http/mount.ts";
export type { ApiBody, ApiRequest, ApiResponse, Mountable } from "../src/api/index.ts";
