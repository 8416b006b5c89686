import { z } from "zod";
import { notFound } from "../kernel/errors.ts";
import type { Query } from "../operations/operation.ts";
import { accountResource } from "./resource.ts";
import { accountById } from "./rows.ts";
import type { Account } from "./types.ts";

const nothing = z.strictObject({});

/** The caller's account, its plan and limits. */
export const getAccount: Query<Record<string, never>, Account> = {
  kind: "query",
  name: "account.get",
  input: () => nothing,
  async run(reads, _input, { scope, services }) {
    const account = await reads.get(accountById, [scope.account_id]);
    if (account === undefined) throw notFound("account");
    return accountResource(account, services);
  },
};
