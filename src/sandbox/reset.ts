import type { KeyObject } from "node:crypto";
import {
  agents,
  agentSessions,
  agentTriggers,
  agentVersions,
  playbooks,
  playbookVersions,
  runs,
} from "../agents/index.ts";
import {
  addressHash,
  consentByAddress,
  consentEvidence,
  consentEvidenceById,
  consents,
  contactById,
  contactLabels,
  contacts,
  identities,
  identityByAddress,
  type IdentityRow,
} from "../contacts/index.ts";
import {
  conversationById,
  conversationLabels,
  conversations,
  notes,
} from "../conversations/index.ts";
import { eventsOfAccount } from "../events/index.ts";
import {
  noInput,
  type ContactId,
  type ConversationId,
  type MessageId,
  type Scope,
} from "../kernel/index.ts";
import {
  attempts,
  attemptsOfMessage,
  inboundIds,
  messageById,
  messages,
  removeWords,
  timeline,
  type MessageRow,
} from "../messages/index.ts";
import { observations } from "../observations/index.ts";
import {
  idempotency,
  type IdempotencyRow,
  type Procedure,
  type Steps,
} from "../operations/index.ts";
import {
  scopedKeyOf,
  type KeyValue,
  type ScopedCollection,
  type ScopedIndex,
  type Seen,
} from "../ports/index.ts";
import { messageScores } from "../sentiment/index.ts";
import { scan, type Tx } from "../store/index.ts";
import { mail, mailboxes, webchatSessions } from "../webchat/index.ts";
import { deliveries, removeDelivery } from "../webhooks/index.ts";
import { requireSandbox } from "./simulate.ts";
import type { SandboxResetResult } from "./types.ts";

/** The number of rows that one transaction removes. */
const chunk = 200;

/**
 * Removes the sandbox's messages, contacts, conversations, agents, playbooks and events. API keys,
 * senders, webhooks, operators and counts stay, with the idempotency keys of requests that changed
 * them. Other idempotency keys can be used again. Jobs of removed rows find nothing to do and end.
 * Agents are removed first, so that a turn under way sends nothing. Agents and playbooks that are
 * created during the reset stay. A message that is created meanwhile stays with its contact and
 * its idempotency key, or is removed with both. So does an opt-out, with its evidence.
 */
export const resetSandbox: Procedure<Record<string, never>, SandboxResetResult> = {
  kind: "procedure",
  name: "sandbox.reset",
  input: () => noInput,
  status: 200,
  storesResponse: true,
  survivesReset: true,
  async run(steps, _input, { scope, services }) {
    requireSandbox(scope);
    const { secret } = services;
    const removeAddress = (tx: Tx, row: Seen<IdentityRow>) => removeIdentity(tx, secret, row);
    const [agentsEnd, playbooksEnd, messagesEnd] = [
      steps.drawId("agt"),
      steps.drawId("pb"),
      steps.drawId("msg"),
    ];
    let removed = 0;
    const remove = async <R extends Scope>(
      index: ScopedIndex<R>,
      selection?: Selection<R>,
    ): Promise<void> => {
      removed += await removeAll(steps, index, selection);
    };
    await remove(agents.primary, { end: agentsEnd });
    await remove(agentVersions.primary, { end: agentsEnd });
    await remove(agentTriggers.primary, { end: agentsEnd });
    await remove(playbooks.primary, { end: playbooksEnd });
    await remove(playbookVersions.primary, { end: playbooksEnd });
    await remove(messages.primary, { end: messagesEnd, remove: removeMessage });
    await remove(deliveries.primary, { end: steps.drawId("dlv"), remove: removeDelivery });
    const ofVisitors = [webchatSessions, mailboxes];
    const ofConversations = [agentSessions, runs, conversationLabels, notes];
    const ofContacts = [observations, contactLabels];
    for (const each of [...ofVisitors, mail, ...ofConversations, conversations]) {
      await remove<Scope>(each.primary);
    }
    await remove(identities.primary, { remove: removeAddress });
    // The other consents go before the contacts. A contact that has taken one over is then removed.
    for (const each of [consents, consentEvidence, ...ofContacts, contacts]) {
      await remove<Scope>(each.primary);
    }
    // Removes what was written during the reset and belongs to a contact that it removed. The
    // addresses go first, because a message to one of them would write more.
    await remove(identities.primary, { isKept: hasContact, remove: removeAddress });
    await remove(conversations.primary, { isKept: hasContact });
    await remove(messages.primary, { isKept: hasContact, remove: removeMessage });
    for (const each of ofVisitors) await remove<OfVisitor>(each.primary, { isKept: hasAddress });
    for (const each of ofConversations) {
      await remove<OfConversation>(each.primary, { isKept: hasConversation });
    }
    for (const each of ofContacts) await remove<OfContact>(each.primary, { isKept: hasContact });
    for (const each of [timeline, inboundIds, messageScores, mail]) {
      await remove<OfMessage>(each.primary, { isKept: hasMessage });
    }
    await remove(eventsOfAccount);
    await remove(idempotency.primary, { isKept: hasLastingEffect });
    return { removed };
  },
};

interface OfContact extends Scope {
  readonly contact_id: ContactId;
}

async function hasContact(tx: Tx, { contact_id }: OfContact): Promise<boolean> {
  return (await tx.get(contactById, [contact_id])) !== undefined;
}

interface OfConversation extends Scope {
  readonly conversation_id: ConversationId;
}

async function hasConversation(tx: Tx, { conversation_id }: OfConversation): Promise<boolean> {
  return (await tx.get(conversationById, [conversation_id])) !== undefined;
}

/** What belongs to a webchat address. */
interface OfVisitor extends Scope {
  readonly address: string;
}

async function hasAddress(tx: Tx, { address }: OfVisitor): Promise<boolean> {
  return (await tx.get(identityByAddress, ["webchat", address])) !== undefined;
}

interface OfMessage extends Scope {
  readonly message_id: MessageId;
}

async function hasMessage(tx: Tx, { message_id }: OfMessage): Promise<boolean> {
  return (await tx.get(messageById, [message_id])) !== undefined;
}

/** Whether the effect of a request stays, as that of this reset does or that of a new message. */
async function hasLastingEffect(
  tx: Tx,
  { survives_reset, subject_id }: IdempotencyRow,
): Promise<boolean> {
  if (survives_reset === true) return true;
  return subject_id !== null && (await tx.get(messageById, [subject_id])) !== undefined;
}

/**
 * Removes an address with its consent and the evidence in one transaction. Otherwise a contact that
 * gets the address meanwhile would copy a consent that is removed later.
 */
async function removeIdentity(
  tx: Tx,
  secret: KeyObject,
  identity: Seen<IdentityRow>,
): Promise<void> {
  const { medium, address } = identity;
  const key = [medium, addressHash(secret, identity, medium, address)] as const;
  const [consent, evidence] = await Promise.all([
    tx.get(consentByAddress, key),
    tx.list(consentEvidenceById, key, chunk),
  ]);
  if (consent !== undefined) tx.remove(consents, consent);
  for (const row of evidence) tx.remove(consentEvidence, row);
  tx.remove(identities, identity);
}

async function removeMessage(tx: Tx, message: Seen<MessageRow>): Promise<void> {
  for (const attempt of await tx.list(attemptsOfMessage, [message.id], chunk)) {
    tx.remove(attempts, attempt);
  }
  await removeWords(tx, message);
  tx.remove(messages, message);
}

interface Selection<R extends Scope> {
  /** Rows from this id on stay. */
  readonly end?: string;
  readonly isKept?: (tx: Tx, row: Seen<R>) => Promise<boolean>;
  /** Removes a row and its parts. By default, the row has no parts. */
  readonly remove?: (tx: Tx, row: Seen<R>) => Promise<void>;
}

/**
 * Removes the rows of a collection, along an index that begins with account and mode. Returns how
 * many it removed.
 */
async function removeAll<R extends Scope>(
  steps: Steps,
  index: ScopedIndex<R>,
  selection: Selection<R> = {},
): Promise<number> {
  const until = selection.end === undefined ? {} : { until: [selection.end] };
  const range = { index, prefix: [], order: "ascending", limit: chunk, ...until } as const;
  let removed = 0;
  let after: { readonly after?: readonly KeyValue[] } = {};
  for (;;) {
    const { rows, more, last } = await scan(steps.reads, { ...range, ...after });
    removed += await steps.commit((tx) => removeRows(tx, index.collection, rows, selection));
    if (!more) return removed;
    after = last === undefined ? {} : { after: last };
  }
}

/** Removes those of the rows that are still there and not kept. Returns how many it removed. */
async function removeRows<R extends Scope>(
  tx: Tx,
  collection: ScopedCollection<R>,
  rows: readonly R[],
  { isKept, remove }: Selection<R>,
): Promise<number> {
  const latest = await Promise.all(
    rows.map((row) => tx.get(collection.primary, scopedKeyOf(collection, row))),
  );
  const there = latest.filter((row) => row !== undefined);
  const kept = await Promise.all(there.map(async (row) => isKept?.(tx, row)));
  const gone = there.filter((_, i) => kept[i] !== true);
  if (remove === undefined) for (const row of gone) tx.remove(collection, row);
  else await Promise.all(gone.map((row) => remove(tx, row)));
  return gone.length;
}
