import { type Scenario, scenarios, type ScenarioMessage } from "./scenarios.ts";
import type { SandboxSeedResult } from "./types.ts";
import {
  identityByAddress,
  contactById,
  contacts,
  createContactWith,
  addScore,
  type IdentityRow,
} from "../contacts/index.ts";
import type { Command, Services } from "../operations/index.ts";
import { backdated, type Tx } from "../store/index.ts";
import { requireSandbox } from "./simulate.ts";
import { seedAgent } from "./seed-agent.ts";
import { type GenerateId, idSource, iso, minuteMs, noInput } from "../kernel/index.ts";
import {
  beginConversation,
  changeConversation,
  type ConversationRow,
  findConversation,
  handlerOnAssign,
  statusPatch,
  notes,
  writeConversation,
} from "../conversations/index.ts";
import {
  applyEvidence,
  type MessageRow,
  moveMessage,
  stateOf,
  receiveMessage,
  writeMessage,
  writeTimeline,
} from "../messages/index.ts";
import { messageScores } from "../sentiment/index.ts";
import { sandboxAddress, sandboxInbox, senderByAddress, type SenderRow } from "../senders/index.ts";
import type { Seen } from "../ports/index.ts";

/**
 * Creates sample contacts and conversations on every channel. Also creates an agent if the engine
 * has the option `agents`. A repeated call adds nothing.
 */
export const seedSandbox: Command<Record<string, never>, SandboxSeedResult> = {
  kind: "command",
  name: "sandbox.seed",
  input: () => noInput,
  status: 201,
  async run(tx, _input, call) {
    const { scope, services } = call;
    requireSandbox(scope);
    const made = { contacts: 0, conversations: 0, messages: 0 };
    const fresh: Scenario[] = [];
    for (const scenario of scenarios) if (await isFresh(tx, scenario)) fresh.push(scenario);
    for (const scenario of fresh) {
      await createContactOf(tx, services, scenario);
      made.contacts++;
      made.conversations++;
    }
    // Create messages in time order, because lists sort by id.
    const turns = fresh.flatMap((scenario) =>
      scenario.turns.map((turn): [Scenario, ScenarioMessage] => [scenario, turn]),
    );
    for (const [scenario, turn] of turns.toSorted(([, a], [, b]) => b.ago - a.ago)) {
      const past = backdated(tx, tx.now - turn.ago * minuteMs);
      // Lists find the rows of a time by their ids.
      const drawId = idSource({ now: () => past.now }, services.random);
      await playMessage(past, { ...services, drawId }, scenario, turn);
      made.messages++;
    }
    const { drawId } = services;
    for (const scenario of fresh) await settle(tx, drawId, scenario);
    // Seed the agent last, so that it does not answer the scenarios' messages.
    if (services.hasAgents) await seedAgent(tx, drawId);
    return made;
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
  const { drawId } = services;
  const { medium, address, name, email, labels, attributes } = scenario;
  const facts = { name, email, labels, attributes, phone: medium === "text" ? address : null };
  await createContactWith(tx, drawId, services.secret, facts, { medium, address });
}

/**
 * Creates one message of the scenario at the transaction's time, as received or as sent and
 * delivered.
 */
async function playMessage(
  tx: Tx,
  services: Services,
  scenario: Scenario,
  turn: ScenarioMessage,
): Promise<void> {
  const sender = await senderOf(tx, scenario);
  if (sender === undefined) return;
  const { channel, body, media = [], score } = turn;
  if (turn.from === "host") return playDelivered(tx, services, scenario, sender, turn);
  const inbound = {
    // A new id each time: the id of an erased message is refused.
    provider_message_id: services.drawId("sim"),
    channel,
    from: scenario.address,
    to: sender.address,
    body,
    media,
    at: tx.now,
  };
  // The scenario sets the score, so the analyzer must not score the message.
  const quiet = { ...services, scoresSentiment: false };
  const message = await receiveMessage(tx, quiet, sender, inbound);
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
  turn: ScenarioMessage,
): Promise<void> {
  const { drawId } = services;
  const identity = await identityOf(tx, scenario);
  const current = await findConversation(tx, identity);
  const begun = current ?? (await beginConversation(tx, drawId, identity, undefined));
  // A person who replies has read the earlier messages.
  const conversation = await writeConversation(tx, begun, { unread_count: 0, unread: null });
  const { channel, body, media = [] } = turn;
  const author = { type: "human", id: "anna" } as const;
  const correspondence = {
    channel,
    identity,
    sender,
    conversation,
    isNewConversation: current === undefined,
    author,
  };
  const call = { services, idempotency_key: null };
  const message = await writeMessage(tx, call, { body, media: [...media] }, correspondence, null);
  const delivered = applyEvidence(stateOf(message), {
    status: "delivered",
    at: tx.now,
    error: null,
  });
  const moved = await moveMessage(tx, drawId, message, delivered.state);
  const times = { at: iso(tx.now), carrier_at: iso(tx.now) };
  const receipt = { status: "delivered", provider_message_id: null, error: null } as const;
  writeTimeline(tx, drawId, message, moved, {
    type: "receipt",
    ...times,
    ...receipt,
    applied: true,
    ignored_reason: null,
  });
}

/** Brings the scenario's conversation to its final state. */
async function settle(tx: Tx, drawId: GenerateId, scenario: Scenario): Promise<void> {
  const conversation = await findConversation(tx, await identityOf(tx, scenario));
  if (conversation === undefined) return;
  const { handler, isRead, labels, priority, end, notes: written } = scenario.conversation;
  for (const body of written) {
    const about = { conversation_id: conversation.id, id: drawId("note") };
    tx.insert(notes, {
      ...about,
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
    ...routed(handler),
    ...endOf(end, tx.now),
  };
  await changeConversation(tx, drawId, read, patch);
}

function routed(handler: Scenario["conversation"]["handler"]): Partial<ConversationRow> {
  if (handler === null) return {};
  if (handler === "queue") return { handler };
  return {
    handler: handlerOnAssign("none", handler),
    assignee_type: handler.type,
    assignee_id: handler.id,
  };
}

function endOf(end: Scenario["conversation"]["end"], now: number): Partial<ConversationRow> {
  if (end === "open") return {};
  if (end === "closed") return statusPatch({ status: "closed", closed_at: now });
  return statusPatch({ status: "snoozed", snoozed_until: now + end.snoozedForMinutes * minuteMs });
}

async function identityOf(tx: Tx, scenario: Scenario): Promise<Seen<IdentityRow>> {
  const identity = await tx.get(identityByAddress, [scenario.medium, scenario.address]);
  if (identity === undefined) throw new TypeError("the scenario's contact must be created first");
  return identity;
}
