import { mailOfMessage, mail, mailboxByAddress, mailboxes } from "./rows.ts";
import {
  type OutboundMessage,
  type Transport,
  webchatTransportName,
  type Seen,
} from "../ports/index.ts";
import { background, type Store, type Tx } from "../store/index.ts";
import { type AccountId, hourMs, type Scope } from "../kernel/index.ts";
import {
  identities,
  identitiesOfContact,
  identityByAddress,
  type IdentityRow,
  maxIdentities,
} from "../contacts/index.ts";
import { messageById, type MessageRow } from "../messages/index.ts";

/** 72 hours. A visitor who has not returned by then is unlikely to return. */
const receiptMs = 72 * hourMs;

/**
 * The built-in webchat transport. It puts each message in the visitor's mailbox once, even when it
 * is sent repeatedly, and streams deliver it to the browser. The browser sends the receipts: it
 * marks a message, or it reconnects with a later number.
 */
export function webchatTransport(store: Store): Transport {
  return {
    name: webchatTransportName,
    capabilities: {
      channels: ["webchat"],
      modes: ["sandbox", "live"],
      receipts: { timeout_ms: receiptMs, lookups_ms: [] },
      confirms_opt_outs: false,
    },
    async send(message) {
      await store.commit(scopeOf(message), (tx) => deliverWebchatMessage(tx, message), background);
      return { outcome: "accepted", provider_message_id: message.message_id };
    },
    /**
     * The result is exact: the entry exists or it does not. A repeated send creates no second
     * entry.
     */
    async lookup(message) {
      const { message_id, to } = message;
      const entry = await store.reads(scopeOf(message)).get(mailOfMessage, [message_id, to]);
      return entry === undefined
        ? { outcome: "not_sent" }
        : { outcome: "sent", provider_message_id: message_id, receipts: [] };
    },
  };
}

function scopeOf({ account_id, mode }: OutboundMessage): Scope {
  return { account_id: account_id as AccountId, mode };
}

/**
 * Puts a message in the mailbox of each webchat address of the contact. A merged contact has
 * several, and each browser must show the message. Repeated calls have no further effect.
 */
async function deliverWebchatMessage(tx: Tx, { message_id, to }: OutboundMessage): Promise<void> {
  const message = await tx.get(messageById, [message_id]);
  const identity = await tx.get(identityByAddress, ["webchat", to], { hold: true });
  // The contact was erased meanwhile. The address is removed first, so a later entry would never be
  // removed.
  if (message === undefined || identity === undefined) return;
  const own = await tx.list(identitiesOfContact, [identity.contact_id, "webchat"], maxIdentities);
  for (const each of own) await append(tx, message, each);
}

/**
 * Each entry also writes the mailbox's row, so concurrent writers conflict and numbers have no
 * gaps.
 */
async function append(
  tx: Tx,
  { id: message_id }: MessageRow,
  identity: Seen<IdentityRow>,
): Promise<void> {
  const { address } = identity;
  if ((await tx.get(mailOfMessage, [message_id, address])) !== undefined) return;
  const known = await tx.get(mailboxByAddress, [address]);
  // An erasure removes this row. It must find the new mailbox.
  if (known === undefined) tx.touch(identities, identity);
  const mailbox = known ?? tx.insert(mailboxes, { address, last_number: 0 });
  const number = mailbox.last_number + 1;
  tx.update(mailboxes, mailbox, { last_number: number });
  // The storage assigns the position at commit.
  tx.insert(mail, { address, number, message_id, position: 0 });
}
