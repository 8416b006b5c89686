import { mapPage, page, type Query } from "../operations/index.ts";
import { iso, type Page, type PageQuery, pageQuerySchema } from "../kernel/index.ts";
import { type SenderRow, senders } from "./rows.ts";
import type { Sender } from "./types.ts";

export const listSenders: Query<PageQuery, Page<Sender>> = {
  kind: "query",
  name: "senders.list",
  input: () => pageQuerySchema,
  async run(reads, input, call) {
    const range = {
      index: senders.primary,
      prefix: [],
      order: "descending",
      operation: "senders.list",
      filters: {},
      input,
    } as const;
    return mapPage(await page(reads, range, call), senderResource);
  },
};

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
