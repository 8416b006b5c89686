import type { DrawId } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import { accounts, type AccountRow } from "./rows.ts";
import type { UnscopedTx } from "../store/index.ts";

/** Writes an account and what it starts with. */
export function openAccount(
  tx: UnscopedTx,
  facts: Omit<AccountRow, "created_at">,
  { drawId, setUpSandbox }: Pick<Services, "setUpSandbox"> & { readonly drawId: DrawId },
): AccountRow {
  const account = tx.insert(accounts, { ...facts, created_at: tx.now });
  setUpSandbox(tx.in({ account_id: account.id, mode: "sandbox" }), drawId);
  return account;
}
