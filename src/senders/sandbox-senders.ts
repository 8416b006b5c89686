import { webchatTransportName } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { defaultSenders, senderChannels, senders } from "./rows.ts";

/** The number of every sandbox. Sandboxes of different accounts never share messages. */
export const sandboxAddress = "+15005559999";
export const sandboxInbox = "sandbox";

/** Creates the initial senders of a sandbox. `tx` has the scope of the sandbox. */
export function createSandboxSenders(tx: Tx): void {
  for (const { address, channels, transport } of [
    { address: sandboxAddress, channels: ["sms", "mms"], transport: "sandbox" },
    { address: sandboxInbox, channels: ["webchat"], transport: webchatTransportName },
  ] as const) {
    const id = tx.drawId("snd");
    tx.insert(senders, {
      id,
      address,
      channels,
      transport,
      pool: false,
      messages_per_second: null,
      daily_cap: null,
      created_at: tx.now,
    });
    for (const channel of channels) {
      tx.insert(senderChannels, { channel, sender_id: id });
      tx.insert(defaultSenders, { channel, sender_id: id, pool: [] });
    }
  }
}
