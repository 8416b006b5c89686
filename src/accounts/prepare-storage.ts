import type { Services } from "../operations/index.ts";
import { accountById } from "./rows.ts";
import { standardPlan } from "./types.ts";
import { settingByName, settings } from "./setting-rows.ts";
import type { AccountId } from "../kernel/index.ts";
import type { UnscopedTx } from "../store/index.ts";
import { openAccount } from "./open.ts";

/** The account of hosts that have but one. */
export const defaultAccountId: AccountId = "acct_00000000000000000000000000";

/**
 * Makes sure of what every engine needs: the secret of keyed hashes, and the default account. Answers the secret, the same for all
 * engines on this storage.
 */
export async function prepareStorage(
  tx: UnscopedTx,
  services: Pick<Services, "drawId" | "random" | "setUpSandbox">,
): Promise<Uint8Array> {
  const secret = await tx.get(settingByName, ["secret"]);
  const account = await tx.get(accountById, [defaultAccountId]);
  if (account === undefined) {
    const { name: plan, requests_per_second } = standardPlan;
    openAccount(
      tx,
      { id: defaultAccountId, name: "Default", plan, requests_per_second, time_zone: null },
      services,
    );
  }
  if (secret !== undefined) return Buffer.from(secret.value, "base64url");
  const fresh = services.random.bytes(32);
  tx.insert(settings, { name: "secret", value: Buffer.from(fresh).toString("base64url") });
  return fresh;
}
