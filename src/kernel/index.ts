export { ByteCollector } from "./byte-collector.ts";
export { boundedCache, getOrInsert } from "./cache.ts";
export { endsBefore, SharedDeadline, withDeadline } from "./deadline.ts";
export { LogLimit } from "./log-limit.ts";
export {
  alternatives,
  describe,
  hasMethods,
  isWord,
  kindOf,
  memberOf,
  quoted,
  show,
  suggestion,
} from "./describe.ts";
export {
  bodyEndedEarly,
  bodyTooLarge,
  type ErrorCode,
  errorCodes,
  type FieldError,
  fieldErrorSchema,
  type FieldPlace,
  invalid,
  notFound,
  stopped,
  PolicyFailure,
  ReplayedError,
  TidingsError,
} from "./errors.ts";
export { problem, type Problem, problemSchema } from "./problem.ts";
export {
  type Author,
  authorSchema,
  type ById,
  byIdSchema,
  day,
  dayInput,
  distinct,
  documentedAs,
  ids,
  instant,
  isAddress,
  isObjectGiven,
  type Metadata,
  metadata,
  metadataInput,
  modeSchema,
  name,
  noInput,
  phone,
  phonePattern,
  playbookReference,
  queryBoolean,
  queryInteger,
  readonlyList,
  recipientSchema,
  pathField,
  reference,
  senderAddress,
  text,
  timestamp,
  withId,
  withPath,
  webUrl,
  wholeRecord,
} from "./fields.ts";
export {
  type Channel,
  channels,
  channelSchema,
  type Medium,
  mediumOf,
  mediums,
  mediumSchema,
} from "./channels.ts";
export {
  defaultPageSize,
  type Page,
  pageFields,
  type PageQuery,
  pageQuerySchema,
  pageSchema,
} from "./page.ts";
export { definedFields } from "./defined-fields.ts";
export { Semaphore } from "./semaphore.ts";
export { headersByName } from "./raw-headers.ts";
export { isLanguageTag } from "./language-tag.ts";
export { type MessageStatus, messageStatusSchema } from "./message-status.ts";
export { toUri } from "./uri.ts";
export {
  type AccountId,
  type AgentId,
  type AttemptId,
  type ContactId,
  type ConversationId,
  type DeliveryId,
  type GenerateId,
  type EntryId,
  type EventId,
  firstIdAt,
  idSource,
  isId,
  type KeyId,
  type MessageId,
  type Mode,
  type NoteId,
  type ObservationId,
  type PlaybookId,
  type RequestId,
  type RunId,
  type Scope,
  scopeKey,
  type SenderId,
  playbookId,
  ulidOf,
  ulidPattern,
  type WebchatSessionId,
  type WebhookId,
} from "./ids.ts";
export { defaultLimits, type Limits, maxScheduleAheadMs } from "./limits.ts";
export {
  containsPhrase,
  editDistance,
  firstCharacters,
  foldText,
  mediaTypeOf,
  nearestName,
  normalizedWords,
  storable,
  straightenApostrophes,
} from "./text.ts";
export { admitOneMore, withinWindow } from "./window-limit.ts";
export {
  dayMs,
  firstTimeZone,
  hourMs,
  iso,
  isoOrNull,
  isTimeZone,
  millis,
  minuteMs,
  utcDay,
} from "./time.ts";
export {
  booleanOption,
  callAdvice,
  choiceOption,
  type Checked,
  functionOption,
  listOption,
  option,
  optionsObject,
  originOption,
  parseOptions,
  portOption,
  refuseArguments,
  wholeOption,
} from "./options.ts";
export {
  inBody,
  inQuery,
  type Locate,
  maxErrors,
  maxItemErrors,
  parse,
  unknownField,
} from "./validation.ts";
