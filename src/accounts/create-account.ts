import { accountResource } from "./reads.ts";
import {
  type CreateAccount,
  createAccountSchema,
  type CreatedAccount,
  standardPlan,
} from "./types.ts";
import { type Command, keyScopes, type Services } from "../operations/index.ts";
import { mintKey } from "./key-commands.ts";
import { unscoped, type UnscopedTx } from "../store/index.ts";
import type { GenerateId } from "../kernel/index.ts";
import { type AccountRow, accounts } from "./rows.ts";

/** Creates an account with a sandbox that is ready to use, and a first key for that sandbox. */
export const createAccount: Command<CreateAccount, CreatedAccount> = {
  kind: "command",
  name: "accounts.create",
  input: () => createAccountSchema,
  status: 201,
  async run(tx, { name, plan = standardPlan, time_zone = null }, { services }) {
    const unscopedTx = unscoped(tx);
    const id = services.drawId("acct");
    const { requests_per_second } = plan;
    const account = insertAccount(
      unscopedTx,
      { id, name, plan: plan.name, requests_per_second, time_zone },
      services,
    );
    const firstKey = { name: "First sandbox key", scopes: [...keyScopes], expires_at: null };
    const key = mintKey(unscopedTx.in({ account_id: id, mode: "sandbox" }), firstKey, services);
    return { account: accountResource(account, services), key };
  },
  onReplay: ({ account, key }) => ({ account, key: { ...key, secret: null } }),
};

/** Inserts an account and sets up its sandbox. */
export function insertAccount(
  tx: UnscopedTx,
  fields: Omit<AccountRow, "created_at">,
  { drawId, setUpSandbox }: Pick<Services, "setUpSandbox"> & { readonly drawId: GenerateId },
): AccountRow {
  const account = tx.insert(accounts, { ...fields, created_at: tx.now });
  setUpSandbox(tx.in({ account_id: account.id, mode: "sandbox" }), drawId);
  return account;
}
