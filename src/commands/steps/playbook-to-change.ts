import { playbookById, type PlaybookRow } from "../../domain/playbooks/rows.ts";
import { notFound } from "../../errors.ts";
import type { Seen } from "../../ports/collection.ts";
import type { Scope } from "../../scope.ts";
import type { Tx } from "../../transactions/transaction.ts";

/** @throws TidingsError `not_found` */
export async function playbookToChange(
  tx: Tx,
  { account_id, mode }: Scope,
  id: string,
): Promise<Seen<PlaybookRow>> {
  const playbook = await tx.get(playbookById, [account_id, mode, id]);
  if (playbook === undefined) throw notFound("playbook");
  return playbook;
}
