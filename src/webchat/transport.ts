import { hourMs, type AccountId, type Scope } from "../kernel/index.ts";
import { webchatTransportName, type OutboundMessage, type Transport } from "../ports/index.ts";
import { background, type Store } from "../store/index.ts";
import { deliverWebchatMessage } from "./mailboxes.ts";
import { mailOfMessage } from "./rows.ts";

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
