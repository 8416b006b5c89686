import { playbookById, type PlaybookRow } from "./playbooks/rows.ts";
import { notFound } from "../kernel/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";

/** @throws TidingsError `not_found` */
export async function playbookToChange(tx: Tx, id: string): Promise<Seen<PlaybookRow>> {
  const playbook = await tx.get(playbookById, [id]);
  if (playbook === undefined) throw notFound("playbook");
  return playbook;
}
