import { createHash } from "node:crypto";
import type { LastSender } from "../contacts/index.ts";
import { TidingsError, type Channel, type Mode, type SenderId } from "../kernel/index.ts";
import { carries, type Services } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import {
  defaultSenderByChannel,
  senderByAddress,
  senderById,
  senderChannels,
  type SenderRow,
} from "./rows.ts";

export interface SenderRequest {
  readonly channel: Channel;
  /** The sender address that the message requests. */
  readonly from: string | undefined;
  /** The senders that the contact knows, in the order in which they are tried. */
  readonly known: readonly (LastSender | null)[];
  /** The recipient's address. */
  readonly to: string;
}

/**
 * Chooses the sender of a message. The requested sender comes first. Without one, the engine tries
 * the senders that the contact knows, then the channel's pool, then the channel's default sender.
 * @throws TidingsError `no_sender` if none of them can send on the channel
 */
export async function chooseSender(
  tx: Tx,
  services: Services,
  { channel, from, known, to }: SenderRequest,
): Promise<SenderRow> {
  const isUsable = usableOn(channel, tx.scope.mode, services);
  if (from !== undefined) {
    const requested = await tx.get(senderByAddress, [from]);
    if (isUsable(requested)) return requested;
    throw noSender(
      lacksTransport(requested, channel)
        ? missingTransport(requested, channel, tx.scope.mode)
        : `${from} is not a sender of this account for ${channel} in ${tx.scope.mode} mode. ` +
            "Create it as a sender, or leave out from.",
    );
  }
  for (const last of known) {
    const sender = last === null ? undefined : await findKnown(tx, last);
    if (isUsable(sender)) return sender;
  }
  const defaults = await tx.get(defaultSenderByChannel, [channel]);
  const candidates =
    defaults === undefined ? [] : [...rankSenders(to, defaults.pool), defaults.sender_id];
  let unusable: SenderRow | undefined;
  for (const id of candidates) {
    const sender = await tx.get(senderById, [id]);
    if (isUsable(sender)) return sender;
    unusable = sender;
  }
  throw noSender(
    lacksTransport(unusable, channel)
      ? missingTransport(unusable, channel, tx.scope.mode)
      : `This account has no sender for ${channel} in ${tx.scope.mode} mode. Create one.`,
  );
}

/** Returns a known sender, also if it was removed and added again since. */
async function findKnown(tx: Tx, { id, address }: LastSender): Promise<SenderRow | undefined> {
  const sender = await tx.get(senderById, [id]);
  if (sender !== undefined || address === null) return sender;
  return tx.get(senderByAddress, [address]);
}

/** Whether an unusable sender has the channel, so that only its transport is missing. */
const lacksTransport = (sender: SenderRow | undefined, channel: Channel): sender is SenderRow =>
  sender?.channels.includes(channel) === true;

function missingTransport({ address, transport }: SenderRow, channel: Channel, mode: Mode): string {
  // A program that has only a real carrier, and does not know that the sandbox is the default.
  const orLive = mode === "sandbox" ? ", or send in live mode" : "";
  return (
    `The sender ${address} uses the transport ${transport}, which this engine does not have for ` +
    `${channel} in ${mode} mode. Pass it to the engine${orLive}.`
  );
}

/** Returns a function that tells whether a sender can send on a channel. */
const usableOn =
  (channel: Channel, mode: Mode, { factsByTransport }: Services) =>
  (sender: SenderRow | undefined): sender is SenderRow =>
    sender !== undefined &&
    sender.channels.includes(channel) &&
    carries(factsByTransport, sender.transport, mode, channel);

/** The maximum number of senders of a channel that are read to find those that can send. */
const maxSendersRead = 1_000;

/**
 * Returns the addresses of the senders that can send on a channel: the first `limit` ones among the
 * oldest `maxSendersRead`.
 */
export async function usableSenders(
  tx: Tx,
  services: Services,
  channel: Channel,
  limit: number,
): Promise<string[]> {
  const isUsable = usableOn(channel, tx.scope.mode, services);
  // Usually all senders are usable. If not, more are read. Each chunk is 4 times the last one, so
  // the total grows only linearly.
  for (let chunk = limit; ; chunk = Math.min(4 * chunk, maxSendersRead)) {
    const members = await tx.list(senderChannels.primary, [channel], chunk);
    const rows = await Promise.all(members.map((each) => tx.get(senderById, [each.sender_id])));
    const usable = rows.flatMap((row) => (isUsable(row) ? [row.address] : []));
    const isEnough = usable.length >= limit || members.length < chunk;
    if (isEnough || chunk === maxSendersRead) return usable.slice(0, limit);
  }
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
