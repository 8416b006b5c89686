import {
  defaultSenderByChannel,
  defaultSenders,
  senderByAddress,
  senderById,
  type SenderRow,
  senders,
} from "./rows.ts";
import { type Seen, type Transport, webchatTransportName } from "../ports/index.ts";
import {
  type Channel,
  type GenerateId,
  invalid,
  type SenderId,
  TidingsError,
} from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { createHash } from "node:crypto";

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

/** The number of every sandbox. Sandboxes of different accounts never share messages. */
export const sandboxAddress = "+15005559999";
export const sandboxInbox = "sandbox";

/** Creates the initial senders of a sandbox. `tx` has the scope of the sandbox. */
export function createSandboxSenders(tx: Tx, drawId: GenerateId): void {
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

interface SenderRequest {
  readonly channel: Channel;
  /** The sender address that the message requests. */
  readonly from: string | undefined;
  /** The sender that the contact saw last. */
  readonly last: SenderId | null;
  /** The recipient's address. */
  readonly to: string;
}

/**
 * Chooses the sender of a message. The requested sender comes first. Without one, the engine tries
 * the sender that the contact saw last, then the channel's pool, then the channel's default sender.
 * @throws TidingsError `no_sender` if none of them can send on the channel
 */
export async function chooseSender(
  tx: Tx,
  { channel, from, last, to }: SenderRequest,
  transports: readonly Transport[],
): Promise<SenderRow> {
  const isUsable = (sender: SenderRow | undefined): sender is SenderRow =>
    sender !== undefined &&
    sender.channels.includes(channel) &&
    transports.some(({ name, capabilities: { modes, channels } }) => {
      return (
        name === sender.transport && modes.includes(tx.scope.mode) && channels.includes(channel)
      );
    });

  if (from !== undefined) {
    const requested = await tx.get(senderByAddress, [from]);
    if (isUsable(requested)) return requested;
    throw noSender(
      `${from} is not a sender of this account for ${channel}. Add it as a sender, or leave ` +
        "out from.",
    );
  }
  const known = last === null ? undefined : await tx.get(senderById, [last]);
  if (isUsable(known)) return known;
  const defaults = await tx.get(defaultSenderByChannel, [channel]);
  const { pool = [], sender_id = null } = defaults ?? {};
  for (const id of [
    ...(pool.length === 0 ? [] : rankSenders(to, pool)),
    ...(sender_id === null ? [] : [sender_id]),
  ]) {
    const sender = await tx.get(senderById, [id]);
    if (isUsable(sender)) return sender;
  }
  throw noSender(`This account has no sender for ${channel}. Add one.`);
}

function noSender(message: string): TidingsError {
  return new TidingsError("no_sender", message, {
    errors: [{ pointer: "/from", code: "no_sender", message }],
  });
}

/**
 * Orders a pool's senders by preference for an address, with rendezvous hashing (Thaler and
 * Ravishankar 1998). An address keeps its sender while that sender is in the pool. Each sender gets
 * an equal share of the addresses. A sender that joins takes addresses evenly from all others. A
 * sender that leaves spreads its addresses evenly over the others.
 */
export function rankSenders(address: string, pool: readonly SenderId[]): SenderId[] {
  const weighted = pool.map((id) => ({ id, weight: weightOf(`${id} ${address}`) }));
  return weighted
    .toSorted((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
}

function weightOf(text: string): number {
  return createHash("sha256").update(text).digest().readUIntBE(0, 6);
}
