import { accounts } from "./domain/accounts/rows.ts";
import { agents, agentSessions, agentVersions } from "./domain/agents/rows.ts";
import { consumerEvents, consumers } from "./domain/consumers/rows.ts";
import { consentEvidence, consents } from "./domain/consents/rows.ts";
import { contactLabels, contacts, identities } from "./domain/contacts/rows.ts";
import { conversationLabels, conversations, notes } from "./domain/conversations/rows.ts";
import { events } from "./domain/events/rows.ts";
import { jobs } from "./domain/jobs/rows.ts";
import { keys } from "./domain/keys/rows.ts";
import {
  attempts,
  inboundIds,
  messages,
  parkedReceipts,
  timeline,
} from "./domain/messages/rows.ts";
import { observations } from "./domain/observations/rows.ts";
import { playbooks, playbookVersions } from "./domain/playbooks/rows.ts";
import { runs } from "./domain/runs/rows.ts";
import { defaultSenders, senderHandOvers, senderPaces, senders } from "./domain/senders/rows.ts";
import { messageScores } from "./domain/sentiment/rows.ts";
import { settings } from "./domain/settings/rows.ts";
import { usage } from "./domain/usage/rows.ts";
import {
  bookmarks,
  deliveries,
  deliveryAttempts,
  webhookPatterns,
  webhooks,
} from "./domain/webhooks/rows.ts";
import { mail, mailboxes, webchatSessions } from "./domain/webchat/rows.ts";
import { idempotency } from "./idempotency/rows.ts";
import { type Schema, schemaOf } from "./ports/collection.ts";

/** Everything that the engine keeps. */
export const schema: Schema = schemaOf([
  settings,
  accounts,
  keys,
  senders,
  defaultSenders,
  senderPaces,
  senderHandOvers,
  contacts,
  contactLabels,
  identities,
  consents,
  consentEvidence,
  conversations,
  conversationLabels,
  notes,
  messages,
  attempts,
  timeline,
  parkedReceipts,
  inboundIds,
  messageScores,
  webchatSessions,
  mailboxes,
  mail,
  observations,
  agents,
  agentVersions,
  playbooks,
  playbookVersions,
  agentSessions,
  runs,
  events,
  consumers,
  consumerEvents,
  webhooks,
  webhookPatterns,
  deliveries,
  deliveryAttempts,
  bookmarks,
  usage,
  idempotency,
  jobs,
]);
