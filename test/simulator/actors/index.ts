import type { Actor } from "./actor.ts";
import { administrators } from "./administrators.ts";
import { agentOperators } from "./agent-operators.ts";
import { apiReaders } from "./api-readers.ts";
import { contactOperators } from "./contact-operators.ts";
import { keywordTexter, plainTexter, questionTexter } from "./inbound-texters.ts";
import { inboxOperators } from "./inbox-operators.ts";
import { messageClients } from "./message-clients.ts";
import { messageSenders } from "./message-senders.ts";
import { processFaults } from "./process-faults.ts";
import { webchatVisitors } from "./webchat-visitors.ts";
import { webhookOperators } from "./webhook-operators.ts";

/** The order is part of every seed's history. A new actor changes all histories. */
export const actors: readonly Actor[] = [
  ...messageSenders,
  ...messageClients,
  keywordTexter,
  ...inboxOperators,
  ...contactOperators,
  ...webchatVisitors,
  ...webhookOperators,
  ...agentOperators,
  questionTexter,
  plainTexter,
  ...processFaults,
  ...apiReaders,
  ...administrators,
];
