import { type EventRow, events } from "../../../src/events/rows.ts";
import { jobByName } from "../../../src/queue/rows.ts";
import { patternsOf } from "../../../src/webhooks/filter.ts";
import {
  bookmarks,
  deliveries,
  deliveriesInOrder,
  deliveriesOfEvent,
  deliveryAttempts,
  type DeliveryRow,
  type WebhookRow,
  webhooks,
} from "../../../src/webhooks/rows.ts";
import { delays, mostAttempts } from "../../../src/webhooks/schedule.ts";
import { longest } from "../faults.ts";
import type { Breach, Invariant } from "../invariant.ts";
import type { Post } from "../receivers.ts";
import { allOf, peek } from "../rows.ts";
import { longestBlindness, WebhookLog } from "../webhook-log.ts";
import type { World } from "../world.ts";

/** For how long a commit that saw no webhook yet may be on its way, in milliseconds. */
const longestCommit = longest.stall + 30_000;
/** What clocks may differ, and be set by meanwhile. */
const longestSkew = 20_000;

export const noneStuck: Invariant = {
  name: "what a webhook is to be told of is told, or will be",
  watch(world) {
    const { ground, clock } = world;
    const expected: (readonly [webhook_id: string, event_id: string])[] = [];
    return {
      *commit(_engine, writes) {
        for (const write of writes) {
          if (write.collection !== webhooks || write.kind !== "update") continue;
          const says = whyForgotten(world, write.row as unknown as WebhookRow);
          if (says !== undefined) yield { about: [String(write.row["id"])], says };
        }
        const there = allOf(ground, webhooks).filter(
          ({ created_at }) => created_at < clock.now() - longestCommit,
        );
        for (const write of writes) {
          if (write.collection !== events || write.kind !== "insert") continue;
          const { id, type } = write.row as unknown as EventRow;
          const patterns = patternsOf(type);
          const listening = there.filter((webhook) =>
            webhook.events.some((pattern) => patterns.includes(pattern)),
          );
          for (const webhook of listening) expected.push([webhook.id, id]);
        }
      },
      async end() {
        const there = new Map<string, WebhookRow>(
          allOf(ground, webhooks).map((webhook) => [webhook.id, webhook]),
        );
        const untold = expected.filter(
          ([webhook_id, event_id]) =>
            there.has(webhook_id) &&
            peek(ground, deliveriesOfEvent, [event_id, webhook_id]).length === 0,
        );
        const rows = allOf(ground, deliveries);
        return [
          ...untold.map(([webhook_id, event_id]) => ({
            about: [webhook_id, event_id],
            says: `${webhook_id} is not told of ${event_id}`,
          })),
          ...rows.flatMap((delivery) => {
            const why = whyStuck(world, delivery, there.get(delivery.webhook_id));
            if (why === undefined) return [];
            const { id, webhook_id, event_id } = delivery;
            return [
              {
                about: [webhook_id, event_id],
                says: `${id} for ${webhook_id} of ${event_id} ${why}`,
              },
            ];
          }),
        ];
      },
    };
  },
};

/** It would still be found when the next delivery comes, so it is looked for at once. */
function whyForgotten({ ground }: World, { id, status }: WebhookRow): string | undefined {
  const [head] = peek(ground, deliveriesInOrder, [id]);
  const [bookmark] = peek(ground, bookmarks.primary, ["deliveries"]);
  if (status !== "enabled" || head === undefined || head.position > (bookmark?.position ?? 0)) {
    return undefined;
  }
  if (peek(ground, jobByName, ["deliver", id]).length > 0) return undefined;
  return `${id} is enabled, ${head.event_id} is pending, and nobody comes for it`;
}

function whyStuck(
  { ground, clock }: World,
  delivery: DeliveryRow,
  webhook?: WebhookRow,
): string | undefined {
  const { status, body, next_attempt_at: due, manual_at, manual_after, history } = delivery;
  if (webhook === undefined) return "is left of a webhook that is deleted";
  if (status === "canceled") {
    return body === null ? undefined : "is canceled, and nothing of it was erased";
  }
  const [job] = peek(ground, jobByName, ["deliver", webhook.id]);
  const isSending = webhook.status === "enabled";
  const [head] = isSending ? peek(ground, deliveriesInOrder, [webhook.id]) : [];
  if (manual_at !== null) {
    const waits =
      webhook.ordering === "fifo" && head !== undefined && head.position <= manual_after;
    if (!waits && job === undefined) return "is asked for by hand, and nobody comes for it";
  }
  if (status === "failed") {
    const wasGone = attemptsOf(ground, delivery).some(({ status_code: code }) => code === 410);
    const isTest = history.length === 0;
    return wasGone || isTest || history.length === mostAttempts
      ? undefined
      : `failed after ${history.length} attempts`;
  }
  if (status !== "pending" || !isSending) return undefined;
  const first = webhook.ordering === "fifo" ? head?.next_attempt_at : due;
  if (first === undefined || first === null) return "is pending, and not due at any time";
  const at = Math.max(first, webhook.paused_until ?? 0);
  if (at < clock.now() - longestSkew) return "is overdue";
  // One that is leased is in somebody's hands, who looks again before it is given back.
  const comes = job !== undefined && (job.leased || job.due_at <= at + longestSkew);
  return comes ? undefined : "is pending, and nobody comes for it";
}

function attemptsOf(ground: World["ground"], { account_id, mode, id }: DeliveryRow) {
  return peek(ground, deliveryAttempts.primary, [account_id, mode, id]);
}

export const onSchedule: Invariant = {
  name: "what webhooks were sent is written down, and on schedule",
  watch(world) {
    const { ground, clock, receivers, isSkewed } = world;
    const log = new WebhookLog(() => clock.now());
    const takenOver = new Set<string>();
    /** What is said of a delivery whose requests are in `posts`. */
    function* judge(delivery: DeliveryRow, posts: readonly Post[]): Iterable<string> {
      const rows = attemptsOf(ground, delivery);
      const made = rows.map(({ started_at }) =>
        posts.find((post) => post.started_at === started_at),
      );
      if (made.includes(undefined)) yield "has an attempt that its receiver never saw";
      const lost = posts.filter((post) => !made.includes(post) && !mayBeLost(post));
      if (lost.length > 0) yield `has no attempt for what its receiver saw at ${lost[0]?.at}`;
      if (delivery.attempts !== rows.length) {
        yield `counts ${delivery.attempts} attempts, and has ${rows.length}`;
      }
      if (
        made.some((post) => isGood(post)) !== (delivery.status === "succeeded") &&
        delivery.status !== "canceled"
      ) {
        yield `is ${delivery.status}, whatever was answered`;
      }
      if (takenOver.has(delivery.webhook_id)) return;
      const automatic = made.filter((_, i) => rows[i]?.manual === false);
      if (automatic.length > mostAttempts) yield `was sent ${automatic.length} times by itself`;
      for (const [i, delay] of delays.entries()) {
        const gap = (automatic[i + 1]?.at ?? Infinity) - (automatic[i]?.ended_at ?? 0);
        if (gap < delay - (isSkewed ? longestSkew : 0)) yield `was sent again after ${gap} ms`;
      }
    }
    return {
      commit(_engine, writes) {
        log.heed(writes);
        for (const { id } of allOf(ground, webhooks)) {
          if (log.wasTakenOver(id, clock.now())) takenOver.add(id);
        }
        return [];
      },
      async end() {
        const urls = new Map(allOf(ground, webhooks).map(({ id, url }) => [id, url]));
        const breaches: Breach[] = [];
        for (const delivery of allOf(ground, deliveries)) {
          const { id, webhook_id, event_id } = delivery;
          const url = urls.get(webhook_id);
          const posts = receivers.posts.filter(
            (post) => post.url === url && post.event_id === event_id,
          );
          for (const says of judge(delivery, posts)) {
            breaches.push({
              about: [webhook_id, event_id],
              says: `${id} of ${event_id} for ${webhook_id} ${says}`,
            });
          }
        }
        return breaches;
      },
    };
  },
};

/** Whoever sent it heard nothing of it, or did not live to write it down, or could not for longer than it tries. */
function mayBeLost({ heard, life, ended_at }: Post): boolean {
  const end = ended_at ?? 0;
  const wasOut = life.outages.some(
    ({ from, until }) => from < end + longestBlindness && until > end,
  );
  return !heard || wasOut || (life.endedAt ?? Infinity) - end < longestBlindness;
}

function isGood(post: Post | undefined): boolean {
  return post?.status === 200 || post?.status === 204;
}
