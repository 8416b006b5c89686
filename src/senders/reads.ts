import {
  defaultSenderByChannel,
  type DefaultSenderRow,
  defaultSenders,
  type SenderRow,
  senders,
} from "./rows.ts";
import type { Sender } from "./types.ts";
import { channels, iso } from "../kernel/index.ts";
import { listQuery } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";

export const listSenders = listQuery({
  name: "senders.list",
  index: senders.primary,
  order: "descending",
  async show(rows, reads): Promise<Sender[]> {
    const defaults = await reads.range({
      index: defaultSenders.primary,
      prefix: [],
      order: "ascending",
      limit: channels.length,
    });
    return rows.map((row) => senderResource(row, defaults));
  },
});

/** The resource of a sender. `defaults` are the default senders of all its channels. */
function senderResource(row: SenderRow, defaults: readonly DefaultSenderRow[]): Sender {
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
