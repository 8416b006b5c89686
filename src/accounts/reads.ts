import { z } from "zod";
import { notFound } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { accountResource } from "./resource.ts";
import { accountById } from "./rows.ts";
import type { Account } from "./types.ts";
import { unscopedReadsOf } from "../store/index.ts";

const nothing = z.strictObject({});

/** The caller's account, its plan and limits. */
export const getAccount: Query<Record<string, never>, Account> = {
  kind: "query",
  name: "account.get",
  input: () => nothing,
  async run(reads, _input, { services }) {
    const account = await unscopedReadsOf(reads).get(accountById, [reads.scope.account_id]);
    if (account === undefined) throw notFound("account");
    return accountResource(account, services);
  },
};
