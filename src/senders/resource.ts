import { iso } from "../kernel/index.ts";
import type { SenderRow } from "./rows.ts";
import type { Sender } from "./types.ts";

export function senderResource(row: SenderRow): Sender {
  const { id, address, channels, transport, messages_per_second, daily_cap, created_at } = row;
  return {
    id,
    address,
    channels: [...channels],
    transport,
    default: row.default,
    pool: row.pool,
    messages_per_second,
    daily_cap,
    created_at: iso(created_at),
  };
}
