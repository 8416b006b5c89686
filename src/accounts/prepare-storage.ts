import type { AccountId } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { UnscopedTx } from "../store/index.ts";
import { insertAccount } from "./commands.ts";
import { accountById, settingByName, settings } from "./rows.ts";
import { noOwnSettings, standardPlan } from "./types.ts";

/** The account of a host application that has a single tenant. */
export const defaultAccountId: AccountId = "acct_00000000000000000000000000";

/**
 * Creates the default account and the secret of keyed hashes if they are missing. Returns the
 * secret, which all engines on this storage share.
 */
export async function prepareStorage(
  tx: UnscopedTx,
  services: Pick<Services, "random" | "setUpSandbox">,
): Promise<Uint8Array> {
  const secret = await tx.get(settingByName, ["secret"]);
  const account = await tx.get(accountById, [defaultAccountId]);
  if (account === undefined) {
    const { name: plan, requests_per_second } = standardPlan;
    insertAccount(
      tx,
      { id: defaultAccountId, name: "Default", plan, requests_per_second, ...noOwnSettings },
      services,
    );
  }
  if (secret !== undefined) return Buffer.from(secret.value, "base64url");
  const fresh = services.random.bytes(32);
  tx.insert(settings, { name: "secret", value: Buffer.from(fresh).toString("base64url") });
  return fresh;
}
