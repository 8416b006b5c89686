import {
  addScore,
  contactById,
  contacts,
  createContactWith,
  identityByAddress,
  type IdentityRow,
} from "../contacts/index.ts";
import {
  beginConversation,
  changeConversation,
  findConversation,
  handlerOnAssign,
  notes,
  statusPatch,
  writeConversation,
  type ConversationRow,
} from "../conversations/index.ts";
import { idSource, iso, minuteMs, noInput } from "../kernel/index.ts";
import {
  join,
  receiveMessage,
  writeMessage,
  writeState,
  writeTimeline,
  type MessageRow,
} from "../messages/index.ts";
import { showsNothing, type Command, type Services } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import { sandboxAddress, sandboxInbox, senderByAddress, type SenderRow } from "../senders/index.ts";
import { messageScores } from "../sentiment/index.ts";
import { backdated, type Tx } from "../store/index.ts";
import { scenarios, type Scenario, type ScenarioMessage } from "./scenarios.ts";
import { seedAgent } from "./seed-agent.ts";
import { requireSandbox } from "./simulate.ts";
import type { SandboxSeedResult } from "./types.ts";

/**
 * Creates sample contacts and conversations on every channel. Also creates an agent if the engine
 * has the option `agents` and the sandbox has no agent. A repeated call adds nothing.
 */
export const seedSandbox: Command<Record<string, never>, SandboxSeedResult> = {
  kind: "command",
  name: "sandbox.seed",
  input: () => noInput,
  status: 201,
  shows: showsNothing,
  async run(tx, _input, { scope, services }) {
    requireSandbox(scope);
    const fresh: Scenario[] = [];
    for (const scenario of scenarios) if (await isFresh(tx, scenario)) fresh.push(scenario);
    for (const scenario of fresh) await createContactOf(tx, services, scenario);
    const messages = await playMessages(tx, services, fresh);
    for (const scenario of fresh) await finishConversation(tx, scenario);
    // Seed the agent last, so that it does not answer the scenarios' messages.
    if (services.hasAgents) await seedAgent(tx);
    return { contacts: fresh.length, conversations: fresh.length, messages };
  },
};

/** True when no contact has the scenario's address and the sandbox still has its sender. */
async function isFresh(tx: Tx, scenario: Scenario): Promise<boolean> {
  const identity = await tx.get(identityByAddress, [scenario.medium, scenario.address]);
  return identity === undefined && (await senderOf(tx, scenario)) !== undefined;
}

/** The sandbox sender that the scenario's contact writes to. */
function senderOf(tx: Tx, { medium }: Scenario): Promise<Seen<SenderRow> | undefined> {
  return tx.get(senderByAddress, [medium === "text" ? sandboxAddress : sandboxInbox]);
}

/** Creates the scenario's contact. */
async function createContactOf(tx: Tx, services: Services, scenario: Scenario): Promise<void> {
  const { medium, address, name, email, labels, attributes } = scenario;
  const facts = { name, email, labels, attributes, phone: medium === "text" ? address : null };
  await createContactWith(tx, services, facts, { medium, address });
}

/**
 * Creates the messages of the scenarios in the order of their times, because lists sort by id.
 * Returns their number.
 */
async function playMessages(
  tx: Tx,
  services: Services,
  played: readonly Scenario[],
): Promise<number> {
  const messages = played
    .flatMap((scenario) => scenario.messages.map((message) => ({ scenario, message })))
    .toSorted((a, b) => b.message.minutesAgo - a.message.minutesAgo);
  for (const { scenario, message } of messages) {
    const now = tx.now - message.minutesAgo * minuteMs;
    // Lists find the rows of a time by their ids.
    const drawId = idSource({ now: () => now }, services.random);
    await playMessage(backdated(tx, { now, drawId }), services, scenario, message);
  }
  return messages.length;
}

/**
 * Creates one message of the scenario at the transaction's time, as received or as sent and
 * delivered.
 */
async function playMessage(
  tx: Tx,
  services: Services,
  scenario: Scenario,
  played: ScenarioMessage,
): Promise<void> {
  const sender = await senderOf(tx, scenario);
  if (sender === undefined) return;
  if (played.from === "host") return playDelivered(tx, services, scenario, sender, played);
  const { channel, body, media = [], score } = played;
  const inbound = {
    // A new id each time: the id of an erased message is refused.
    provider_message_id: tx.drawId("sim"),
    channel,
    from: scenario.address,
    to: sender.address,
    body,
    media,
    at: tx.now,
  };
  // The scenario sets the score, so the analyzer must not score the message.
  const unscored = { ...services, scoresSentiment: false };
  const message = await receiveMessage(tx, unscored, sender, inbound);
  if (score !== undefined) await recordScore(tx, message, score);
}

async function recordScore(tx: Tx, message: MessageRow, score: number): Promise<void> {
  const { contact_id, id: message_id } = message;
  const created_at = tx.now;
  tx.insert(messageScores, {
    contact_id,
    message_id,
    state: "scored",
    score,
    created_at,
  });
  const contact = await tx.get(contactById, [contact_id]);
  if (contact !== undefined) {
    tx.update(contacts, contact, { sentiment_state: addScore(contact.sentiment_state, score) });
  }
}

/** Writes a message that was already delivered. Its send job finds nothing queued. */
async function playDelivered(
  tx: Tx,
  services: Services,
  scenario: Scenario,
  sender: SenderRow,
  played: ScenarioMessage,
): Promise<void> {
  const identity = await identityOf(tx, scenario);
  const current = await findConversation(tx, identity);
  const begun = current ?? (await beginConversation(tx, identity, undefined));
  // A person who replies has read the earlier messages.
  const conversation = await writeConversation(tx, begun, { unread_count: 0, unread: null });
  const { channel, body, media = [] } = played;
  const author = { type: "human", id: "anna" } as const;
  const correspondence = {
    channel,
    identity,
    sender,
    conversation,
    author,
  };
  const call = { services, idempotency_key: null };
  const message = await writeMessage(tx, call, { body, media: [...media] }, correspondence);
  const delivered = { status: "delivered", at: tx.now, error: null } as const;
  const updated = await writeState(tx, message, join(null, delivered).state);
  writeTimeline(tx, message, updated, {
    type: "receipt",
    at: iso(tx.now),
    carrier_at: iso(tx.now),
    status: "delivered",
    provider_message_id: null,
    error: null,
    applied: true,
    ignored_reason: null,
  });
}

/** Brings the scenario's conversation to its final state. */
async function finishConversation(tx: Tx, scenario: Scenario): Promise<void> {
  const conversation = await findConversation(tx, await identityOf(tx, scenario));
  if (conversation === undefined) return;
  const { handler, isRead, labels, priority, end, notes: written } = scenario.conversation;
  for (const body of written) {
    tx.insert(notes, {
      conversation_id: conversation.id,
      id: tx.drawId("note"),
      author_type: "human",
      author_id: "anna",
      body,
      created_at: tx.now,
    });
  }
  const read = isRead
    ? await writeConversation(tx, conversation, { unread_count: 0, unread: null })
    : conversation;
  const patch: Partial<ConversationRow> = {
    labels,
    priority,
    ...handlerPatch(handler),
    ...endPatch(end, tx.now),
  };
  await changeConversation(tx, read, patch);
}

function handlerPatch(handler: Scenario["conversation"]["handler"]): Partial<ConversationRow> {
  if (handler === null) return {};
  if (handler === "queue") return { handler };
  return {
    handler: handlerOnAssign("none", handler),
    assignee_type: handler.type,
    assignee_id: handler.id,
  };
}

function endPatch(end: Scenario["conversation"]["end"], now: number): Partial<ConversationRow> {
  if (end === "open") return {};
  if (end === "closed") return statusPatch({ status: "closed", closed_at: now });
  return statusPatch({ status: "snoozed", snoozed_until: now + end.snoozedForMinutes * minuteMs });
}

async function identityOf(tx: Tx, scenario: Scenario): Promise<Seen<IdentityRow>> {
  const identity = await tx.get(identityByAddress, [scenario.medium, scenario.address]);
  if (identity === undefined) throw new TypeError("the scenario's contact must be created first");
  return identity;
}
