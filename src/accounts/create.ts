import { accountResource } from "./resource.ts";
import {
  type CreateAccount,
  createAccountSchema,
  type CreatedAccount,
  standardPlan,
} from "./types.ts";
import { scopes } from "./key-types.ts";
import type { Command } from "../operations/index.ts";
import { mintKey } from "./mint-key.ts";
import { openAccount } from "./open.ts";
import { unscoped } from "../store/index.ts";

/** Opens an account: with a sandbox that can be used at once, and a key to it. */
export const createAccount: Command<CreateAccount, CreatedAccount> = {
  kind: "command",
  name: "accounts.create",
  input: () => createAccountSchema,
  status: 201,
  async run(tx, { name, plan = standardPlan, time_zone = null }, { services }) {
    const all = unscoped(tx);
    const id = services.drawId("acct");
    const { requests_per_second } = plan;
    const account = openAccount(
      all,
      { id, name, plan: plan.name, requests_per_second, time_zone },
      services,
    );
    const first = { name: "First sandbox key", scopes: [...scopes], expires_at: null };
    const key = mintKey(all.in({ account_id: id, mode: "sandbox" }), first, services);
    return { account: accountResource(account, services), key };
  },
  onReplay: ({ account, key }) => ({ account, key: { ...key, secret: null } }),
};
