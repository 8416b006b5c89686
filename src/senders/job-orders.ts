/** The lanes of jobs that hand messages over, and the job that releases those that wait. */
import type { Scope } from "../kernel/index.ts";
import type { JobClass, JobOrder, Lane } from "../queue/index.ts";
import type { ThrottleRow } from "./rows.ts";

/** The lane of the jobs of a class that hand messages to a transport. */
export function sendLane(
  { transport, account_id, mode }: Scope & { readonly transport: string | null },
  sendClass: JobClass,
): Lane<"send"> {
  // A message without a transport is never handed over.
  const remote = transport ?? "";
  const lane = { kind: "send", slow: false, remote, account_id, mode, waiting_for: null } as const;
  return { ...lane, class: sendClass };
}

/** The lane in which `send` jobs of a class wait for a sender. */
export function waitingLane(throttle: ThrottleRow, sendClass: JobClass): Lane<"send"> {
  return { ...sendLane(throttle, sendClass), waiting_for: throttle.address };
}

/** The job that releases the jobs that wait for a sender. */
export function throttleJob(
  { account_id, mode, address }: ThrottleRow,
  due_at: number,
): JobOrder<"throttle"> {
  return {
    kind: "throttle",
    key: { account_id, mode, address },
    account_id,
    mode,
    lane: { kind: "throttle", slow: false },
    due_at,
  };
}
