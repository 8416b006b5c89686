import type { DrawId } from "../kernel/ids.ts";
import type { Services } from "../operations/operation.ts";
import type { Tx } from "../store/transaction.ts";
import { accounts, type AccountRow } from "./rows.ts";

/** Writes an account and what it starts with. */
export function openAccount(
  tx: Tx,
  facts: Omit<AccountRow, "created_at">,
  { drawId, setUpAccount }: Pick<Services, "setUpAccount"> & { readonly drawId: DrawId },
): AccountRow {
  const account = tx.insert(accounts, { ...facts, created_at: tx.now });
  setUpAccount(tx, account.id, drawId);
  return account;
}
