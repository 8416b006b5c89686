import { defaultSenderByChannel, senderByAddress, senderById, type SenderRow } from "./rows.ts";
import { orderFor } from "./rules.ts";
import { type Channel, type SenderId, TidingsError } from "../kernel/index.ts";
import type { Transport } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

export interface SenderWish {
  readonly channel: Channel;
  /** The address that was asked for. */
  readonly from: string | undefined;
  /** The one that the contact has seen last. */
  readonly last: SenderId | null;
  /** The address that it goes to. */
  readonly to: string;
}

/**
 * Who a message comes from: the sender asked for, else the one that the contact knows, else the address's own of the channel's pool, else
 * the channel's default.
 * @throws TidingsError `no_sender`
 */
export async function chooseSender(
  tx: Tx,
  { channel, from, last, to }: SenderWish,
  transports: readonly Transport[],
): Promise<SenderRow> {
  const usable = (sender: SenderRow | undefined): sender is SenderRow =>
    sender !== undefined &&
    sender.channels.includes(channel) &&
    transports.some(({ name, capabilities: { modes, channels } }) => {
      return (
        name === sender.transport && modes.includes(tx.scope.mode) && channels.includes(channel)
      );
    });

  if (from !== undefined) {
    const asked = await tx.get(senderByAddress, [from]);
    if (usable(asked)) return asked;
    throw noSender(`${from} is not a sender of this account for ${channel}.`);
  }
  const known = last === null ? undefined : await tx.get(senderById, [last]);
  if (usable(known)) return known;
  const standard = await tx.get(defaultSenderByChannel, [channel]);
  const { pool = [], sender_id = null } = standard ?? {};
  for (const id of [
    ...(pool.length === 0 ? [] : orderFor(to, pool)),
    ...(sender_id === null ? [] : [sender_id]),
  ]) {
    const sender = await tx.get(senderById, [id]);
    if (usable(sender)) return sender;
  }
  throw noSender(`This account has no sender for ${channel}.`);
}

function noSender(message: string): TidingsError {
  return new TidingsError("no_sender", message, {
    errors: [{ pointer: "/from", code: "no_sender", message }],
  });
}
