import { noInput, notFound, pageQuerySchema, type Page, type PageQuery } from "../kernel/index.ts";
import { mapPage, pageOf, type Query } from "../operations/index.ts";
import { scan, unscopedReadsOf } from "../store/index.ts";
import { accounts, readOwnAccount, type AccountRow } from "./rows.ts";
import { accountResource } from "./show.ts";
import type { Account } from "./types.ts";

/** Returns the caller's account with its plan, limits and settings. */
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
