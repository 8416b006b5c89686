import { iso } from "../kernel/index.ts";
import type { Tx } from "../store/index.ts";
import { defaultSenderByChannel, type DefaultSenderRow, type SenderRow } from "./rows.ts";
import type { Sender } from "./types.ts";

/** The resource of a sender. `defaults` are the default senders of all its channels. */
export function senderResource(row: SenderRow, defaults: readonly DefaultSenderRow[]): Sender {
  const { id, address, transport, pool, messages_per_second, daily_cap, created_at } = row;
  const default_channels = row.channels.filter((channel) =>
    defaults.some((each) => each.channel === channel && each.sender_id === id),
  );
  return {
    id,
    address,
    channels: [...row.channels],
    transport,
    default: default_channels.length > 0,
    default_channels,
    pool,
    messages_per_second,
    daily_cap,
    created_at: iso(created_at),
  };
}

/** The resource of a sender as the transaction sees it. */
export async function showSender(tx: Tx, sender: SenderRow): Promise<Sender> {
  const defaults = await Promise.all(
    sender.channels.map((channel) => tx.get(defaultSenderByChannel, [channel])),
  );
  return senderResource(
    sender,
    defaults.filter((row) => row !== undefined),
  );
}
