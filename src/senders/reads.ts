import type { Query } from "../operations/operation.ts";
import { mapPage, page } from "../operations/pagination.ts";
import type { Page } from "../kernel/fields.ts";
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
