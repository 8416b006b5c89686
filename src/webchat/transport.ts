import { deliverWebchatMessage } from "./deliver.ts";
import { mailOfMessage } from "./rows.ts";
import { type OutboundMessage, type Transport, webchatTransportName } from "../ports/index.ts";
import type { Store } from "../store/index.ts";
import type { AccountId, Scope } from "../kernel/index.ts";

/** 72 hours: a visitor who hasn't come back by then won't. */
const receiptMs = 72 * 3_600_000;

/**
 * The engine's own carrier of webchat. What it is handed is put in the visitor's mailbox, once for each message, however often it is
 * handed over, and streams bring it to the browser. Receipts are the browser's: it comes again and has it, or it says so.
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
      await store.commit(scopeOf(message), (tx) => deliverWebchatMessage(tx, message), {
        own: true,
      });
      return { outcome: "accepted", provider_message_id: message.message_id };
    },
    /** Exact: a call whose answer was lost has left its entry, or hasn't; one that lands later still is the same entry. */
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
