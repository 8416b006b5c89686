import type { ContactRow } from "../contacts/index.ts";
import type { JobOrder } from "../queue/index.ts";

/** The procedure that arms the job does the work at once. The job takes over when that process is gone. */
const laterMs = 60_000;

/** Moves what a merged contact had to its survivor. */
export function mergeJob(
  { account_id, mode, id: contact_id }: ContactRow,
  now: number,
): JobOrder<"merge"> {
  const lane = { kind: "merge", slow: false } as const;
  return { kind: "merge", key: { contact_id }, account_id, mode, lane, due_at: now + laterMs };
}

/** Removes what is left of an erased contact. */
export function eraseJob(
  { account_id, mode, id: contact_id }: ContactRow,
  now: number,
): JobOrder<"erase"> {
  const lane = { kind: "erase", slow: false } as const;
  return { kind: "erase", key: { contact_id }, account_id, mode, lane, due_at: now + laterMs };
}
