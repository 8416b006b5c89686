import { mapPage, page, type Query } from "../operations/index.ts";
import type { Page } from "../kernel/index.ts";
import { keyResource } from "./key-resource.ts";
import { keys } from "./key-rows.ts";
import { type ApiKey, type ListKeys, listKeysSchema } from "./key-types.ts";

/** Keys of the caller's mode, revoked ones included, newest first. */
export const listKeys: Query<ListKeys, Page<ApiKey>> = {
  kind: "query",
  name: "apiKeys.list",
  input: () => listKeysSchema,
  async run(reads, input, call) {
    const walk = {
      index: keys.primary,
      prefix: [],
      order: "descending",
      operation: "apiKeys.list",
      filters: {},
      input,
    } as const;
    return mapPage(await page(reads, walk, call), keyResource);
  },
};
