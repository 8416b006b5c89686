import { definedFields, notFound, withId, type ById } from "../kernel/index.ts";
import { keyScopes, showsNothing, type Command, type Services } from "../operations/index.ts";
import { unscoped, type UnscopedTx } from "../store/index.ts";
import { mintKey } from "./keys/key-commands.ts";
import { accountById, accounts, type AccountRow } from "./rows.ts";
import { accountResource } from "./show.ts";
import {
  createAccountSchema,
  noOwnSettings,
  standardPlan,
  updateAccountSchema,
  type Account,
  type CreateAccount,
  type CreatedAccount,
  type UpdateAccount,
} from "./types.ts";

/** Creates an account with a sandbox that is ready to use, and a first key for that sandbox. */
export const createAccount: Command<CreateAccount, CreatedAccount> = {
  kind: "command",
  name: "accounts.create",
  input: () => createAccountSchema,
  status: 201,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { name, plan = standardPlan, ...given }, { services }) {
    const unscopedTx = unscoped(tx);
    const id = tx.drawId("acct");
    const { requests_per_second } = plan;
    const settings = { ...noOwnSettings, ...definedFields(given) };
    const account = insertAccount(
      unscopedTx,
      { id, name, plan: plan.name, requests_per_second, ...settings },
      services,
    );
    const firstKey = { name: "First sandbox key", scopes: [...keyScopes], expires_at: null };
    const key = mintKey(unscopedTx.in({ account_id: id, mode: "sandbox" }), firstKey, services);
    return { account: accountResource(account, services), key };
  },
  onReplay: ({ account, key }) => ({ account, key: { ...key, secret: null } }),
};

/** Changes the given fields of an account. */
export const updateAccount: Command<UpdateAccount & ById, Account> = {
  kind: "command",
  name: "accounts.update",
  input: () => withId(updateAccountSchema, "The id of the account."),
  status: 200,
  shows: showsNothing,
  survivesReset: true,
  async run(tx, { id, plan, ...changes }, { services }) {
    const unscopedTx = unscoped(tx);
    const account = await unscopedTx.get(accountById, [id]);
    if (account === undefined) throw notFound("account", id);
    const updated = unscopedTx.update(accounts, account, {
      ...definedFields(changes),
      plan: plan?.name ?? account.plan,
      requests_per_second: plan?.requests_per_second ?? account.requests_per_second,
    });
    return accountResource(updated, services);
  },
};

/** Inserts an account and sets up its sandbox. */
export function insertAccount(
  tx: UnscopedTx,
  fields: Omit<AccountRow, "created_at">,
  { setUpSandbox }: Pick<Services, "setUpSandbox">,
): AccountRow {
  const account = tx.insert(accounts, { ...fields, created_at: tx.now });
  setUpSandbox(tx.in({ account_id: account.id, mode: "sandbox" }));
  return account;
}
