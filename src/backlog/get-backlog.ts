import { iso, isoOrNull, noInput, type Scope } from "../kernel/index.ts";
import type { Query } from "../operations/index.ts";
import { analyzerName } from "../ports/index.ts";
import { bestClass, countWaiting, type Lane } from "../queue/index.ts";
import { unscopedReadsOf, type Reads } from "../store/index.ts";
import { nextAttemptAt, oldestPending } from "../webhooks/index.ts";
import type { Backlog, WaitingWork, WebhookLag, WorkKind } from "./types.ts";

/** The maximum number of jobs that are read of one lane. */
const maxJobs = 1_000;

/** Returns what waits in the caller's account and mode. */
export const getBacklog: Query<Record<string, never>, Backlog> = {
  kind: "query",
  name: "account.backlog",
  input: () => noInput,
  async run(reads, _input, { services }, now) {
    const transports = services.transports.map(({ name }) => name);
    const lanes = lanesOf(reads.scope, transports);
    const [counted, pending] = await Promise.all([
      Promise.all(lanes.map((each) => workOf(reads, each, now))),
      oldestPending(reads),
    ]);
    const webhooks = pending.map(({ webhook, delivery }): WebhookLag => ({
      webhook_id: webhook.id,
      status: webhook.status,
      oldest_created_at: iso(delivery.created_at),
      next_attempt_at: isoOrNull(nextAttemptAt(delivery, webhook, now)),
    }));
    return { work: counted.filter((each) => each !== undefined), webhooks };
  },
};

interface WorkLane {
  readonly kind: WorkKind;
  readonly transport: string | null;
  readonly lane: Lane;
}

/** Each of these lanes belongs to one account and mode, so an account sees no other's work. */
function lanesOf({ account_id, mode }: Scope, transports: readonly string[]): readonly WorkLane[] {
  const own = { slow: false, account_id, mode } as const;
  const ofTransports = transports.flatMap((transport): WorkLane[] => {
    const remote = { ...own, remote: transport };
    return [
      {
        kind: "send",
        transport,
        lane: { kind: "send", ...remote, waiting_for: null, class: bestClass },
      },
      { kind: "follow_up", transport, lane: { kind: "follow-up", ...remote } },
    ];
  });
  return [
    ...ofTransports,
    { kind: "score", transport: null, lane: { kind: "score", ...own, remote: analyzerName } },
    { kind: "turn", transport: null, lane: { kind: "turn", ...own, class: bestClass } },
  ];
}

async function workOf(
  reads: Reads,
  { kind, transport, lane }: WorkLane,
  now: number,
): Promise<WaitingWork | undefined> {
  const { due, later, running, oldestDueAt } = await countWaiting(
    unscopedReadsOf(reads),
    lane,
    now,
    maxJobs,
  );
  if (due + later + running === 0) return undefined;
  return { kind, transport, due, later, running, oldest_due_at: isoOrNull(oldestDueAt) };
}
