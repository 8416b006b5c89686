import { accounts, type AccountRow } from "./rows.ts";
import { defaultSenders, senders } from "../senders/rows.ts";
import type { DrawId } from "../kernel/ids.ts";
import { webchatTransportName } from "../ports/transport.ts";
import type { Tx, UnscopedTx } from "../store/transaction.ts";

/** The sandbox's number, the same for everybody: no two accounts' sandboxes ever meet. */
export const sandboxAddress = "+15005559999";
export const sandboxInbox = "sandbox";

/** Writes an account and its sandbox senders. */
export function openAccount(
  tx: UnscopedTx,
  facts: Omit<AccountRow, "created_at">,
  drawId: DrawId,
): AccountRow {
  const account = tx.insert(accounts, { ...facts, created_at: tx.now });
  openSandbox(tx.in({ account_id: account.id, mode: "sandbox" }), drawId);
  return account;
}

function openSandbox(tx: Tx, drawId: DrawId): void {
  for (const { address, channels, transport } of [
    { address: sandboxAddress, channels: ["sms", "mms"], transport: "sandbox" },
    { address: sandboxInbox, channels: ["webchat"], transport: webchatTransportName },
  ] as const) {
    const id = drawId("snd");
    tx.insert(senders, {
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
      tx.insert(defaultSenders, { channel, sender_id: id, pool: [] });
    }
  }
}
