import {
  defaultSenderByChannel,
  defaultSenders,
  senderById,
  type SenderRow,
  senders,
} from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import type { Channel } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** The channels that have no default sender yet. */
export async function withoutDefault(tx: Tx, channels: readonly Channel[]): Promise<Channel[]> {
  const missing: Channel[] = [];
  for (const channel of channels) {
    const known = await tx.get(defaultSenderByChannel, [channel]);
    if (known === undefined || known.sender_id === null) missing.push(channel);
  }
  return missing;
}

/** Makes a sender the default of channels. Who was it for one of them, and is for none any more, stops showing as default. */
export async function makeDefault(
  tx: Tx,
  sender: Seen<SenderRow>,
  channels: readonly Channel[],
): Promise<Seen<SenderRow>> {
  const { id } = sender;
  for (const channel of channels) {
    const known = await tx.get(defaultSenderByChannel, [channel]);
    if (known === undefined) {
      tx.insert(defaultSenders, { channel, sender_id: id, pool: [] });
    } else if (known.sender_id !== id) {
      tx.update(defaultSenders, known, { sender_id: id });
      if (known.sender_id !== null) await retire(tx, known.sender_id);
    }
  }
  return sender.default ? sender : tx.update(senders, sender, { default: true });
}

/** Whether a sender is the default of one of the channels. */
export async function isDefaultFor(
  tx: Tx,
  sender: SenderRow,
  channels: readonly Channel[],
): Promise<boolean> {
  const { id } = sender;
  for (const channel of channels) {
    const known = await tx.get(defaultSenderByChannel, [channel]);
    if (known?.sender_id === id) return true;
  }
  return false;
}

/** Takes a sender's defaults away for channels. Whether any is left is for the caller to write down. */
export async function dropDefault(
  tx: Tx,
  sender: Seen<SenderRow>,
  channels: readonly Channel[],
): Promise<void> {
  const { id } = sender;
  for (const channel of channels) {
    const known = await tx.get(defaultSenderByChannel, [channel]);
    if (known?.sender_id === id) tx.update(defaultSenders, known, { sender_id: null });
  }
}

async function retire(tx: Tx, id: string): Promise<void> {
  const sender = await tx.get(senderById, [id]);
  if (sender === undefined || (await isDefaultFor(tx, sender, sender.channels))) return;
  tx.update(senders, sender, { default: false });
}
