import { defaultSenderByChannel, senderByAddress, senderById, type SenderRow } from "./rows.ts";
import { type Channel, type SenderId, TidingsError } from "../kernel/index.ts";
import type { Transport } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { createHash } from "node:crypto";

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
