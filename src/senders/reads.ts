import { mapPage, page, type Query } from "../operations/index.ts";
import type { Page } from "../kernel/index.ts";
import { senderResource } from "./resource.ts";
import { senders } from "./rows.ts";
import { type ListSenders, listSendersSchema, type Sender } from "./types.ts";

export const listSenders: Query<ListSenders, Page<Sender>> = {
  kind: "query",
  name: "senders.list",
  input: () => listSendersSchema,
  async run(reads, input, call) {
    const walk = {
      index: senders.primary,
      prefix: [],
      order: "descending",
      operation: "senders.list",
      filters: {},
      input,
    } as const;
    return mapPage(await page(reads, walk, call), senderResource);
  },
};
