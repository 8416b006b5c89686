import { Webhook as Verifier } from "standardwebhooks";
import {
  deliveriesInOrder,
  deliveriesOfEvent,
  type WebhookRow,
} from "../../../src/webhooks/rows.ts";
import type { Breach, Invariant } from "../invariant.ts";
import type { Post } from "../receivers.ts";
import { peek } from "../rows.ts";
import { longestLook, WebhookLog } from "../webhook-log.ts";
import type { World } from "../world.ts";

type Judge = (post: Post, webhook: WebhookRow, log: WebhookLog) => Iterable<string>;

/** What holds of each request when it arrives. */
function ofEachPost(name: string, judge: (world: World) => Judge): Invariant {
  return {
    name,
    watch(world) {
      const log = new WebhookLog(() => world.clock.now());
      const judged = judge(world);
      return {
        commit(_engine, writes) {
          log.heed(writes);
          return [];
        },
        *post(post): Iterable<Breach> {
          const webhook = log.at(post.url);
          const about = [post.event_id, post.url, ...(webhook === undefined ? [] : [webhook.id])];
          if (webhook === undefined) {
            yield { about, says: `${post.url} was sent something and is no webhook` };
            return;
          }
          for (const says of judged(post, webhook, log)) {
            yield { about, says: `${post.event_id} was sent to ${webhook.id}, ${says}` };
          }
        },
      };
    },
  };
}

function signaturesBy(secret: string, { event_id, headers, body }: Post): string {
  return new Verifier(secret).sign(
    event_id,
    new Date(Number(headers["webhook-timestamp"]) * 1_000),
    body,
  );
}

/** With what it is to be signed; a secret that ends in this very second signs or does not. */
function isSignedBy(
  { secret, previous_secret, previous_expires_at }: WebhookRow,
  post: Post,
): boolean {
  const signatures = post.headers["webhook-signature"];
  const now = signaturesBy(secret, post);
  if (previous_secret === null || (previous_expires_at ?? 0) <= post.started_at) {
    return signatures === now;
  }
  return signatures === `${now} ${signaturesBy(previous_secret, post)}`;
}

export const signed: Invariant = ofEachPost(
  "requests to webhooks are signed, and say the same each time",
  () =>
    function* judge(post, { id }, log) {
      const webhooks = log.webhooks.between(id, post.at, longestLook);
      if (post.headers["webhook-timestamp"] !== String(Math.floor(post.started_at / 1_000))) {
        yield "with an old time";
      }
      if (!webhooks.some((webhook) => isSignedBy(webhook, post))) {
        yield "and not signed with its secrets of that time";
      }
      if (post.headers["x-shop"] !== "ours") yield "without its own headers";
      const told = log.deliveries.between(`${id} ${post.event_id}`, post.at, longestLook);
      if (!told.some(({ body }) => body === post.body)) {
        yield "with other words than are written down";
      }
    },
);

export const oneAtATime: Invariant = ofEachPost(
  "a webhook gets an event from one engine at a time",
  ({ receivers }) =>
    function* judge(post, { id, ordering }, log) {
      if (log.wasTakenOver(id, post.at)) return;
      const other = receivers.posts.find(
        ({ url, event_id, ended_at }) =>
          ended_at === null &&
          url === post.url &&
          (ordering === "fifo" || event_id === post.event_id),
      );
      if (other !== undefined) yield `while ${other.life.name} is about ${other.event_id}`;
    },
);

export const inTurn: Invariant = ofEachPost(
  "webhooks get what is due, and in their order",
  ({ ground }) =>
    function* judge(post, { id, ordering }, log) {
      const webhooks = log.webhooks.between(id, post.at, longestLook);
      if (webhooks.length === 0) yield "which is deleted";
      const told = log.deliveries.between(`${id} ${post.event_id}`, post.at, longestLook);
      if (told.some(({ manual_at }) => manual_at !== null) || log.wasTakenOver(id, post.at)) return;
      if (!webhooks.some(({ status }) => status === "enabled")) yield "which isn't enabled";
      const isDue = told.some(({ next_attempt_at: due }) => due !== null && due <= post.started_at);
      if (!isDue) {
        yield `and is ${told.at(-1)?.status ?? "nothing"}, due ${told.at(-1)?.next_attempt_at ?? "never"}`;
      }
      const isLeftAlone = webhooks.every(
        ({ paused_until }) => (paused_until ?? 0) > post.started_at,
      );
      if (isLeftAlone && webhooks.length > 0) yield "which asked for a rest";
      if (ordering !== "fifo") return;
      const [delivery] = peek(ground, deliveriesOfEvent, [post.event_id, id]);
      const [head] = peek(ground, deliveriesInOrder, [id]);
      if (delivery !== undefined && head !== undefined && head.position < delivery.position) {
        yield `and overtakes ${head.event_id}`;
      }
    },
);
