import { accounts } from "./domain/accounts/rows.ts";
import { consumerEvents, consumers } from "./domain/consumers/rows.ts";
import { contacts, identities } from "./domain/contacts/rows.ts";
import { conversations } from "./domain/conversations/rows.ts";
import { events } from "./domain/events/rows.ts";
import { jobs } from "./domain/jobs/rows.ts";
import { keys } from "./domain/keys/rows.ts";
import { attempts, inboundIds, messages, parkedReceipts, timeline } from "./domain/messages/rows.ts";
import { defaultSenders, senders } from "./domain/senders/rows.ts";
import { settings } from "./domain/settings/rows.ts";
import { usage } from "./domain/usage/rows.ts";
import { idempotency } from "./idempotency/rows.ts";
import { type Schema, schemaOf } from "./ports/collection.ts";

/** Everything that the engine keeps. */
export const schema: Schema = schemaOf([
  settings,
  accounts,
  keys,
  senders,
  defaultSenders,
  contacts,
  identities,
  conversations,
  messages,
  attempts,
  timeline,
  parkedReceipts,
  inboundIds,
  events,
  consumers,
  consumerEvents,
  usage,
  idempotency,
  jobs,
]);
