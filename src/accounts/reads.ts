import { mapPage, pageOf, type Query, type Services } from "../operations/index.ts";
import {
  iso,
  type Limits,
  noInput,
  notFound,
  type Page,
  type PageQuery,
  pageQuerySchema,
} from "../kernel/index.ts";
import { type AccountRow, accounts, readOwnAccount } from "./rows.ts";
import type { Account, AccountLimits } from "./types.ts";
import { scan, unscopedReadsOf } from "../store/index.ts";

export function accountResource(
  row: AccountRow,
  { limits, timeZone }: Pick<Services, "limits" | "timeZone">,
): Account {
  const { id, name, plan, requests_per_second, created_at } = row;
  const time_zone = row.time_zone ?? timeZone;
  return {
    id,
    name,
    plan: { name: plan, requests_per_second },
    limits: accountLimits(limits),
    time_zone,
    created_at: iso(created_at),
  };
}

function accountLimits(limits: Limits): AccountLimits {
  return {
    body_bytes: limits.bodyBytes,
    batch_body_bytes: limits.batchBodyBytes,
    message_characters: limits.messageCharacters,
    media_items: limits.mediaItems,
    batch_items: limits.batchItems,
    import_rows: limits.importRows,
    metadata_keys: limits.metadataKeys,
    metadata_characters: limits.metadataCharacters,
    json_depth: limits.jsonDepth,
  };
}

/** Returns the caller's account with its plan and limits. */
export const getAccount: Query<Record<string, never>, Account> = {
  kind: "query",
  name: "account.get",
  input: () => noInput,
  async run(reads, _input, { services }) {
    const account = await readOwnAccount(reads);
    if (account === undefined) throw notFound("account");
    return accountResource(account, services);
  },
};

/** Lists the accounts of the engine, newest first. The default account is last. */
export const listAccounts: Query<PageQuery, Page<Account>> = {
  kind: "query",
  name: "accounts.list",
  input: () => pageQuerySchema,
  async run(reads, input, call) {
    const index = accounts.primary;
    const range = { index, prefix: [], order: "descending" } as const;
    const found = await pageOf<AccountRow>(
      {
        operation: "accounts.list",
        filters: {},
        input,
        index,
        prefix: 0,
        scan: (limit, after) =>
          scan(unscopedReadsOf(reads), { ...range, limit, ...(after && { after }) }),
      },
      call,
    );
    return mapPage(found, (row) => accountResource(row, call.services));
  },
};
