import type { WebhookRequest } from "../../../adapters/testing/index.ts";
import { maxDelayMs } from "../../../adapters/testing/world/faults.ts";
import { events } from "../../../src/events/rows.ts";
import { jobByName } from "../../../src/queue/jobs/rows.ts";
import { patternsOf } from "../../../src/webhooks/event-patterns.ts";
import {
  cursors,
  deliveries,
  deliveriesInOrder,
  deliveriesOfEvent,
  deliveryAttempts,
  webhooks,
  type DeliveryAttemptRow,
  type DeliveryRow,
  type WebhookRow,
} from "../../../src/webhooks/rows.ts";
import { delays, maxAttempts, maxJitter } from "../../../src/webhooks/sending/schedule.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { allRows, insertedRows, readRows, writtenRows } from "../rows.ts";
import { maxStaleOwnerMs, WebhookHistory } from "../webhook-history.ts";
import type { WebhookReceivers } from "../webhook-receivers.ts";
import type { World } from "../world.ts";

/** How long a commit may take that read the webhooks before a new one was created. */
const maxCommitMs = maxDelayMs.stall + 30_000;
/** How far clocks may differ, including steps of the clock. */
const maxSkewMs = 20_000;

/** How much longer than planned a delivery may wait: the receiver asked for it, or clocks differ. */
const maxLateMs = 180_000;

export const deliveriesProgress: Invariant = {
  name: "Every event that a webhook subscribes to is delivered to it, or will be.",
  check(world) {
    const { database, clock } = world;
    const expected: (readonly [webhook_id: string, event_id: string])[] = [];
    /** When each webhook was committed. The wall clock may have been set since its transaction ran. */
    const committedAt = new Map<string, number>();
    return {
      *commit(_engine, writes) {
        for (const write of writes) {
          if (write.collection !== webhooks || write.kind !== "update") continue;
          const description = missingJob(world, write.row as unknown as WebhookRow);
          if (description !== undefined) yield { about: [String(write.row["id"])], description };
        }
        const now = clock.monotonic();
        for (const { id } of insertedRows(writes, webhooks)) committedAt.set(id, now);
        const existing = allRows(database, webhooks).filter(
          ({ id }) => (committedAt.get(id) ?? now) < now - maxCommitMs,
        );
        for (const { id, type } of insertedRows(writes, events)) {
          const patterns = patternsOf(type);
          const subscribed = existing.filter((webhook) =>
            webhook.events.some((pattern) => patterns.includes(pattern)),
          );
          for (const webhook of subscribed) expected.push([webhook.id, id]);
        }
      },
      async end() {
        const existing = new Map<string, WebhookRow>(
          allRows(database, webhooks).map((webhook) => [webhook.id, webhook]),
        );
        const missing = expected.filter(
          ([webhook_id, event_id]) =>
            existing.has(webhook_id) &&
            readRows(database, deliveriesOfEvent, [event_id, webhook_id]).length === 0,
        );
        const rows = allRows(database, deliveries);
        return [
          ...missing.map(([webhook_id, event_id]) => ({
            about: [webhook_id, event_id],
            description: `${webhook_id} has no delivery of ${event_id}`,
          })),
          ...rows.flatMap((delivery) => {
            const why = whyStuck(world, delivery, existing.get(delivery.webhook_id));
            if (why === undefined) return [];
            const { id, webhook_id, event_id } = delivery;
            return [
              {
                about: [webhook_id, event_id],
                description: `the delivery ${id} of ${event_id} to ${webhook_id} ${why}`,
              },
            ];
          }),
        ];
      },
    };
  },
};

/**
 * Checked on every commit, since the next event would arm the missing job and so hide its absence.
 */
function missingJob({ database }: World, { id, status }: WebhookRow): string | undefined {
  const [head] = readRows(database, deliveriesInOrder, [id]);
  const [cursor] = readRows(database, cursors.primary, ["deliveries"]);
  if (status !== "enabled" || head === undefined || head.position > (cursor?.position ?? 0)) {
    return undefined;
  }
  if (readRows(database, jobByName, ["deliver", id]).length > 0) return undefined;
  return `${id} is enabled and ${head.event_id} is pending, but there is no delivery job`;
}

function whyStuck(
  { database, clock }: World,
  delivery: DeliveryRow,
  webhook?: WebhookRow,
): string | undefined {
  const { status, body, next_attempt_at: due, manual_at, manual_after, history } = delivery;
  if (webhook === undefined) return "is left over from a deleted webhook";
  if (status === "canceled") {
    return body === null ? undefined : "is canceled, but still has its body";
  }
  const [job] = readRows(database, jobByName, ["deliver", webhook.id]);
  const isSending = webhook.status === "enabled";
  const [head] = isSending ? readRows(database, deliveriesInOrder, [webhook.id]) : [];
  if (manual_at !== null) {
    const waits =
      webhook.ordering === "fifo" &&
      head !== undefined &&
      head.id !== delivery.id &&
      head.position <= manual_after;
    if (!waits && job === undefined) return "was requested by hand, but has no job";
  }
  if (status === "failed") {
    const wasGone = attemptsOf(database, delivery).some(({ status_code: code }) => code === 410);
    const isTest = history.length === 0;
    return wasGone || isTest || history.length === maxAttempts
      ? undefined
      : `failed after only ${history.length} attempts`;
  }
  if (status !== "pending" || !isSending) return undefined;
  const first = webhook.ordering === "fifo" ? head?.next_attempt_at : due;
  if (first === undefined || first === null) return "is pending, but has no due time";
  const at = Math.max(first, webhook.paused_until ?? 0);
  // The holder of a lease may be at work on a backlog, one delivery after another.
  const isAtWork = job !== undefined && job.leased && job.due_at > clock.now();
  if (at < clock.now() - maxSkewMs && !isAtWork) return "is overdue";
  // The holder of a leased job checks for more work before it gives the job back.
  const isScheduled = job !== undefined && (job.leased || job.due_at <= at + maxSkewMs);
  return isScheduled ? undefined : "is pending, but has no job in time";
}

function attemptsOf(database: World["database"], { account_id, mode, id }: DeliveryRow) {
  return readRows(database, deliveryAttempts.primary, [account_id, mode, id]);
}

export const pausesKept: Invariant = {
  name: "A webhook's pause is never shortened by a later answer.",
  check() {
    const pausedUntil = new Map<string, number>();
    return {
      *commit(engine, writes) {
        for (const { id, paused_until } of writtenRows(writes, webhooks)) {
          const before = pausedUntil.get(id) ?? 0;
          pausedUntil.set(id, paused_until ?? 0);
          if (paused_until === null || paused_until >= before) continue;
          const description = `${engine} ended the pause of ${id} ${before - paused_until} ms earlier`;
          yield { about: [id], description };
        }
      },
    };
  },
};

export const deliveriesOnSchedule: Invariant = {
  name: "Delivery attempts are recorded as they happened, and retried on schedule.",
  check(world) {
    const { database, clock, receivers, clocksDiffer } = world;
    const log = new WebhookHistory(() => clock.monotonic());
    const takenOver = new Set<string>();
    function* problemsOf(
      delivery: DeliveryRow,
      requests: readonly WebhookRequest[],
    ): Iterable<string> {
      const rows = attemptsOf(database, delivery);
      const made = requestsOf(rows, requests, receivers);
      if (made.includes(undefined)) yield "has an attempt that its receiver never got";
      const unrecorded = requests.filter(
        (request) => !made.includes(request) && !mayBeUnrecorded(request, receivers),
      );
      if (unrecorded.length > 0) {
        yield `has no attempt for the request that its receiver got at ${unrecorded[0]?.at}`;
      }
      if (delivery.attempts !== rows.length) {
        yield `counts ${delivery.attempts} attempts, but has ${rows.length}`;
      }
      if (
        made.some((request) => isSuccess(request)) !== (delivery.status === "succeeded") &&
        delivery.status !== "canceled"
      ) {
        yield `is ${delivery.status}, which contradicts the answers`;
      }
      if (takenOver.has(delivery.webhook_id)) return;
      const automatic = made.filter((_, i) => rows[i]?.manual === false);
      if (automatic.length > maxAttempts) yield `was retried ${automatic.length} times`;
      for (const [i, delay] of delays.entries()) {
        const gap = (automatic[i + 1]?.at ?? Infinity) - (automatic[i]?.ended_at ?? 0);
        if (gap < delay - (clocksDiffer ? maxSkewMs : 0)) yield `was retried after only ${gap} ms`;
      }
      const { status, history, next_attempt_at: due } = delivery;
      const planned = delays[history.length - 1];
      const end = automatic.at(-1)?.ended_at;
      if (status !== "pending" || planned === undefined || due === null || end == null) return;
      if (due - end > planned * (1 + maxJitter) + maxLateMs) yield `waits for ${due - end} ms`;
    }
    return {
      commit(_engine, writes) {
        log.apply(writes);
        for (const { id } of allRows(database, webhooks)) {
          if (log.wasTakenOver(id, clock.monotonic())) takenOver.add(id);
        }
        return [];
      },
      async end() {
        const urls = new Map(allRows(database, webhooks).map(({ id, url }) => [id, url]));
        const violations: Violation[] = [];
        for (const delivery of allRows(database, deliveries)) {
          const { id, webhook_id, event_id } = delivery;
          const url = urls.get(webhook_id);
          const requests = receivers.requests.filter(
            (request) => request.url === url && request.event.id === event_id,
          );
          for (const problem of problemsOf(delivery, requests)) {
            violations.push({
              about: [webhook_id, event_id],
              description: `the delivery ${id} of ${event_id} to ${webhook_id} ${problem}`,
            });
          }
        }
        return violations;
      },
    };
  },
};

/**
 * Finds the request of each attempt. Two engines can have sent at the same time by their own
 * clocks, and got the same status. Then each attempt is of another request, and requests that must
 * be recorded come first.
 */
function requestsOf(
  attempts: readonly DeliveryAttemptRow[],
  requests: readonly WebhookRequest[],
  receivers: WebhookReceivers,
): readonly (WebhookRequest | undefined)[] {
  const rank = (request: WebhookRequest): number => Number(mayBeUnrecorded(request, receivers));
  const left = requests.toSorted((a, b) => rank(a) - rank(b));
  return attempts.map(({ started_at, status_code }) => {
    const at = left.findIndex(
      (request) => request.started_at === started_at && seenStatus(request) === status_code,
    );
    return at === -1 ? undefined : left.splice(at, 1)[0];
  });
}

/**
 * The request was under way at the end of the history, or the sender did not learn the outcome,
 * crashed soon after, or could not reach the storage.
 */
function mayBeUnrecorded(request: WebhookRequest, receivers: WebhookReceivers): boolean {
  const end = receivers.endOf(request);
  if (request.abandoned || end === null) return true;
  const run = receivers.runOf(request);
  const hadOutage = run?.outages.some(
    ({ from, until }) => from < end + maxStaleOwnerMs && until > end,
  );
  return hadOutage === true || (run?.endedAt ?? Infinity) - end < maxStaleOwnerMs;
}

/** The status of the response as the sender saw it. */
function seenStatus({ outcome, status }: WebhookRequest): number | null {
  return outcome === "answered" ? status : null;
}

function isSuccess(request: WebhookRequest | undefined): boolean {
  return request?.outcome === "answered" && (request.status === 200 || request.status === 204);
}
