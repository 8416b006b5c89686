import { playbookById, type PlaybookRow } from "./playbooks/rows.ts";
import { notFound } from "../kernel/errors.ts";
import type { Seen } from "../ports/collection.ts";
import type { Tx } from "../store/transaction.ts";

/** @throws TidingsError `not_found` */
export async function playbookToChange(tx: Tx, id: string): Promise<Seen<PlaybookRow>> {
  const playbook = await tx.get(playbookById, [id]);
  if (playbook === undefined) throw notFound("playbook");
  return playbook;
}
