import { channels } from "../kernel/index.ts";
import { listQuery } from "../operations/index.ts";
import { defaultSenders, senders } from "./rows.ts";
import { senderResource } from "./show.ts";
import type { Sender } from "./types.ts";

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
