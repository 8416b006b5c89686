import { accounts } from "./accounts/rows.ts";
import { agents, agentSessions, agentVersions } from "./agents/rows.ts";
import { consumerEvents, consumers } from "./events/consumer-rows.ts";
import { consentEvidence, consents } from "./contacts/consent-rows.ts";
import { contactLabels, contacts, identities } from "./contacts/rows.ts";
import { conversationLabels, conversations, notes } from "./conversations/rows.ts";
import { events } from "./events/rows.ts";
import { jobs } from "./queue/rows.ts";
import { keys } from "./accounts/key-rows.ts";
import { attempts, inboundIds, messages, parkedReceipts, timeline } from "./messages/rows.ts";
import { observations } from "./observations/rows.ts";
import { playbooks, playbookVersions } from "./agents/playbooks/rows.ts";
import { runs } from "./agents/runs/rows.ts";
import { defaultSenders, senderHandOvers, senderPaces, senders } from "./senders/rows.ts";
import { messageScores } from "./sentiment/rows.ts";
import { settings } from "./accounts/setting-rows.ts";
import { usage } from "./accounts/usage-rows.ts";
import {
  bookmarks,
  deliveries,
  deliveryAttempts,
  webhookPatterns,
  webhooks,
} from "./webhooks/rows.ts";
import { mail, mailboxes, webchatSessions } from "./webchat/rows.ts";
import { idempotency } from "./operations/idempotency-rows.ts";
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
