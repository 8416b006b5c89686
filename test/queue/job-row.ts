import type { JobClass } from "../../src/queue/jobs/classes.ts";
import { encodeLane, type Lane } from "../../src/queue/jobs/lane.ts";
import type { JobRow } from "../../src/queue/jobs/rows.ts";

/** The lane of sends to a remote. */
export function laneOf(remote: string, jobClass: JobClass = "single"): Lane<"send"> {
  const scope = { account_id: "acct_1", mode: "live" } as const;
  return { kind: "send", slow: false, remote, ...scope, waiting_for: null, class: jobClass };
}

/** The remote of a lane that `laneOf` made. */
export const nameOf = (lane: Lane): string => (lane.kind === "send" ? lane.remote : "");

/** A send that is due in a remote's lane. */
export function job(
  key: string,
  remote: string,
  due_at: number,
  jobClass: JobClass = "single",
): JobRow {
  const name = { kind: "send", key } as const;
  return {
    ...name,
    pool: "work",
    lane: encodeLane(laneOf(remote, jobClass)),
    due_at,
    account_id: null,
    mode: null,
    leased: false,
    fence: 0,
    rearmed_at: null,
    failures: 0,
    leased_by: null,
  };
}
