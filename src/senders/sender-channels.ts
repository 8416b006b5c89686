import { invalid, type Channel, type SenderId, type TidingsError } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import {
  defaultSenderByChannel,
  defaultSenders,
  senderChannels,
  senderOfChannel,
  type SenderRow,
} from "./rows.ts";

/** The limit of one channel's pool. */
const maxPoolSize = 100;

/** What a channel uses a sender for. */
interface ChannelUse {
  /** Whether the sender has the channel. */
  readonly isMember: boolean;
  /** Whether the sender is in the channel's pool. */
  readonly isPooled: boolean;
  /**
   * Whether the sender becomes the channel's default, or stops being it. Undefined if the default
   * stays as it is.
   */
  readonly isDefault: boolean | undefined;
}

/**
 * Adds a sender to a channel, removes it, or changes what the channel uses it for. A channel that
 * has senders always has a default: the first sender becomes it, and the oldest other sender
 * replaces it. Each change of the members writes the channel's row, so that it conflicts with a
 * concurrent choice of another default.
 * @throws TidingsError `validation_failed` if the pool is full
 */
export async function setChannel(
  tx: Tx,
  { id }: Pick<SenderRow, "id">,
  channel: Channel,
  { isMember, isPooled, isDefault }: ChannelUse,
): Promise<void> {
  const known = await tx.get(defaultSenderByChannel, [channel]);
  const membership = await tx.get(senderOfChannel, [channel, id]);
  const changesMembers = isMember !== (membership !== undefined);
  if (membership === undefined && isMember) tx.insert(senderChannels, { channel, sender_id: id });
  if (membership !== undefined && !isMember) tx.remove(senderChannels, membership);

  const others = known?.pool.filter((each) => each !== id) ?? [];
  const pool = !isPooled ? others : known?.pool.includes(id) ? known.pool : [...others, id];
  if (pool.length > maxPoolSize) throw poolFull(channel);

  const sender_id = await nextDefault(tx, id, channel, known?.sender_id, { isMember, isDefault });
  if (sender_id === undefined) {
    if (known !== undefined) tx.remove(defaultSenders, known);
  } else if (known === undefined) {
    tx.insert(defaultSenders, { channel, sender_id, pool });
  } else if (changesMembers || known.sender_id !== sender_id || known.pool.length !== pool.length) {
    tx.update(defaultSenders, known, { sender_id, pool });
  }
}

/**
 * Returns the default sender of a channel after a change of one sender. Undefined without senders.
 */
async function nextDefault(
  tx: Tx,
  id: SenderId,
  channel: Channel,
  current: SenderId | undefined,
  { isMember, isDefault }: Pick<ChannelUse, "isMember" | "isDefault">,
): Promise<SenderId | undefined> {
  if (isMember && isDefault === true) return id;
  if (current !== undefined && current !== id) return current;
  if (isMember && isDefault === undefined) return id;
  const oldest = await tx.list(senderChannels.primary, [channel], 2);
  const other = oldest.find(({ sender_id }) => sender_id !== id);
  return other?.sender_id ?? (isMember ? id : undefined);
}

function poolFull(channel: Channel): TidingsError {
  const problem = `The pool for ${channel} is full: it has ${maxPoolSize} senders.`;
  return invalid([
    { pointer: "/pool", code: "pool_full", message: `${problem} Remove one first.` },
  ]);
}
