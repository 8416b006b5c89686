import type { AccountId, DrawId } from "../kernel/ids.ts";
import { webchatTransportName } from "../ports/transport.ts";
import type { Tx } from "../store/transaction.ts";
import { defaultSenders, senders } from "./rows.ts";

/** The sandbox's number, the same for everybody: no two accounts' sandboxes ever meet. */
export const sandboxAddress = "+15005559999";
export const sandboxInbox = "sandbox";

/** Creates the senders that the sandbox of a new account starts with. */
export function createSandboxSenders(tx: Tx, account_id: AccountId, drawId: DrawId): void {
  const scope = { account_id, mode: "sandbox" } as const;
  for (const { address, channels, transport } of [
    { address: sandboxAddress, channels: ["sms", "mms"], transport: "sandbox" },
    { address: sandboxInbox, channels: ["webchat"], transport: webchatTransportName },
  ] as const) {
    const id = drawId("snd");
    tx.insert(senders, {
      ...scope,
      id,
      address,
      channels,
      transport,
      default: true,
      pool: false,
      messages_per_second: null,
      daily_cap: null,
      created_at: tx.now,
    });
    for (const channel of channels) {
      tx.insert(defaultSenders, { ...scope, channel, sender_id: id, pool: [] });
    }
  }
}
