import {
  defaultSenderByChannel,
  defaultSenders,
  senderById,
  type SenderRow,
  senders,
} from "./rows.ts";
import type { Seen } from "../ports/index.ts";
import { type Channel, invalid, type TidingsError } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";

/** Returns the channels that have no default sender yet. */
export async function channelsWithoutDefault(
  tx: Tx,
  channels: readonly Channel[],
): Promise<Channel[]> {
  const missing: Channel[] = [];
  for (const channel of channels) {
    const known = await tx.get(defaultSenderByChannel, [channel]);
    if (known === undefined || known.sender_id === null) missing.push(channel);
  }
  return missing;
}

/**
 * Makes a sender the default of channels. A previous default that is left with no channel loses its
 * `default` flag.
 */
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
      if (known.sender_id !== null) await clearDefaultFlag(tx, known.sender_id);
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

/**
 * Removes a sender as the default of channels. The caller updates the sender's `default` flag.
 */
export async function removeDefault(
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

async function clearDefaultFlag(tx: Tx, id: string): Promise<void> {
  const sender = await tx.get(senderById, [id]);
  if (sender === undefined || (await isDefaultFor(tx, sender, sender.channels))) return;
  tx.update(senders, sender, { default: false });
}

/** The limit of one channel's pool. */
const maxPoolSize = 100;

/**
 * Adds a sender to the pools of its channels if its `pool` flag is set. Removes it from all other
 * pools of its current and previous channels.
 * @throws TidingsError `validation_failed` if a pool is full
 */
export async function setPools(
  tx: Tx,
  { id, channels, pool: isPooled }: SenderRow,
  previousChannels: readonly Channel[],
): Promise<void> {
  for (const channel of new Set([...previousChannels, ...channels])) {
    const known = await tx.get(defaultSenderByChannel, [channel]);
    const others = known?.pool.filter((each) => each !== id) ?? [];
    const pool = isPooled && channels.includes(channel) ? [...others, id] : others;
    if (pool.length > maxPoolSize) {
      throw poolFull(channel);
    }
    if (known === undefined) {
      if (pool.length > 0) {
        tx.insert(defaultSenders, { channel, sender_id: null, pool });
      }
    } else if (pool.length !== known.pool.length) {
      tx.update(defaultSenders, known, { pool });
    }
  }
}

function poolFull(channel: Channel): TidingsError {
  const problem = `The pool for ${channel} is full: it has ${maxPoolSize} senders.`;
  return invalid([
    { pointer: "/pool", code: "pool_full", message: `${problem} Remove one first.` },
  ]);
}
