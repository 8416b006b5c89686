import type { ContactRow } from "../contacts/rows.ts";
import type { JobOrder } from "../queue/types.ts";

/** Who asked for it goes on at once. The job is for when that process is gone. */
const laterMs = 60_000;

/** Moves what a merged contact had to its survivor. */
export function mergeJob({ account_id, mode, id }: ContactRow, now: number): JobOrder {
  return { kind: "merge", key: id, account_id, mode, lane: "merge", due_at: now + laterMs };
}

/** Removes what is left of an erased contact. */
export function eraseJob({ account_id, mode, id }: ContactRow, now: number): JobOrder {
  return { kind: "erase", key: id, account_id, mode, lane: "erase", due_at: now + laterMs };
}
