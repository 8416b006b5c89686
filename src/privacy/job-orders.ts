import type { ContactRow } from "../contacts/index.ts";
import type { MessageRow } from "../messages/index.ts";
import type { JobOrder } from "../queue/index.ts";

/**
 * The delay of a job that finishes what a procedure does at once, in milliseconds. The job is
 * needed only if the procedure's process ends early.
 */
const laterMs = 60_000;

/** The job that moves the history of a merged contact to its survivor. */
export function mergeJob(
  { account_id, mode, id: contact_id }: ContactRow,
  now: number,
): JobOrder<"merge"> {
  const lane = { kind: "merge", slow: false } as const;
  return { kind: "merge", key: { contact_id }, account_id, mode, lane, due_at: now + laterMs };
}

/** The job that removes the history of an erased contact. */
export function eraseJob(
  { account_id, mode, id: contact_id }: ContactRow,
  now: number,
): JobOrder<"erase"> {
  const lane = { kind: "erase", slow: false } as const;
  return { kind: "erase", key: { contact_id }, account_id, mode, lane, due_at: now + laterMs };
}

/** The job that removes the stored responses about an erased contact's address. */
export function eraseAddressJob(
  { account_id, mode }: ContactRow,
  hash: string,
  now: number,
): JobOrder<"erase-address"> {
  const lane = { kind: "erase-address", slow: false } as const;
  return { kind: "erase-address", key: { hash }, account_id, mode, lane, due_at: now + laterMs };
}

/** The job that redacts runs and removes observations, if there are too many for the command. */
export function redactJob(
  { account_id, mode, id: message_id }: MessageRow,
  due_at: number,
): JobOrder<"redact"> {
  const lane = { kind: "redact", slow: false } as const;
  return { kind: "redact", key: { message_id }, account_id, mode, lane, due_at };
}

/** The job that removes expired rows. */
export function reapJob(due_at: number): JobOrder<"reap"> {
  const lane = { kind: "reap", slow: false } as const;
  return { kind: "reap", key: { what: "expired" }, account_id: null, mode: null, lane, due_at };
}
