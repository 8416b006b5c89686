import { Webhook as Verifier } from "standardwebhooks";
import type { WebhookRequest } from "../../../adapters/testing/index.ts";
import {
  deliveriesInOrder,
  deliveriesOfEvent,
  type WebhookRow,
} from "../../../src/webhooks/rows.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { readRows } from "../rows.ts";
import { maxReadAgeMs, WebhookHistory } from "../webhook-history.ts";
import type { World } from "../world.ts";

/** Returns what is wrong with a request, as the ends of sentences. */
type Judge = (
  request: WebhookRequest,
  webhook: WebhookRow,
  log: WebhookHistory,
) => Iterable<string>;

/** An invariant that is checked for each request when it arrives. */
function forEachRequest(name: string, judge: (world: World) => Judge): Invariant {
  return {
    name,
    check(world) {
      const log = new WebhookHistory(() => world.clock.now());
      const problemsOf = judge(world);
      return {
        commit(_engine, writes) {
          log.apply(writes);
          return [];
        },
        *webhookRequest(request): Iterable<Violation> {
          const { url } = request;
          const event_id = request.event.id;
          const webhook = log.at(url);
          if (webhook === undefined) {
            yield {
              about: [event_id, url],
              description: `${url} got ${event_id}, but is no webhook`,
            };
            return;
          }
          for (const problem of problemsOf(request, webhook, log)) {
            yield {
              about: [event_id, url, webhook.id],
              description: `${event_id} was sent to ${webhook.id} ${problem}`,
            };
          }
        },
      };
    },
  };
}

function signaturesBy(secret: string, { event, headers, body }: WebhookRequest): string {
  return new Verifier(secret).sign(
    event.id,
    new Date(Number(headers["webhook-timestamp"]) * 1_000),
    body,
  );
}

/** Expects a signature by the current secret, and one by a previous secret in its grace period. */
function isSignedBy(
  { secret, previous_secret, previous_expires_at }: WebhookRow,
  request: WebhookRequest,
): boolean {
  const signatures = request.headers["webhook-signature"];
  const current = signaturesBy(secret, request);
  if (previous_secret === null || (previous_expires_at ?? 0) <= request.started_at) {
    return signatures === current;
  }
  return signatures === `${current} ${signaturesBy(previous_secret, request)}`;
}

export const requestsSigned: Invariant = forEachRequest(
  "Requests to a webhook are signed with its secrets, and carry its headers and the stored body.",
  () =>
    function* judge(request, { id }, log) {
      const webhooks = log.webhooks.between(id, request.at, maxReadAgeMs);
      const timestamp = String(Math.floor(request.started_at / 1_000));
      if (request.headers["webhook-timestamp"] !== timestamp) {
        yield "with a timestamp that is not the time of sending";
      }
      if (!webhooks.some((webhook) => isSignedBy(webhook, request))) {
        yield "with a signature that does not match its secrets";
      }
      if (request.headers["x-shop"] !== "ours") yield "without its custom header";
      const stored = log.deliveries.between(`${id} ${request.event.id}`, request.at, maxReadAgeMs);
      if (!stored.some(({ body }) => body === request.body)) {
        yield "with a body that differs from the stored one";
      }
    },
);

export const oneRequestAtATime: Invariant = forEachRequest(
  "A webhook gets an event, or in fifo order any event, in one request at a time.",
  ({ receivers }) =>
    function* judge(request, { id, ordering }, log) {
      if (log.wasTakenOver(id, request.at)) return;
      const other = receivers.requests.find(
        ({ url, event, ended_at }) =>
          ended_at === null &&
          url === request.url &&
          (ordering === "fifo" || event.id === request.event.id),
      );
      if (other !== undefined) {
        yield `while ${other.engine} was still sending ${other.event.id}`;
      }
    },
);

export const requestsDueAndInOrder: Invariant = forEachRequest(
  "A webhook gets only deliveries that are due while it is enabled, in fifo order if it asks so.",
  ({ database }) =>
    function* judge(request, { id, ordering }, log) {
      const { at, started_at } = request;
      const event_id = request.event.id;
      const webhooks = log.webhooks.between(id, at, maxReadAgeMs);
      if (webhooks.length === 0) yield "which is deleted";
      const versions = log.deliveries.between(`${id} ${event_id}`, at, maxReadAgeMs);
      if (versions.some(({ manual_at }) => manual_at !== null) || log.wasTakenOver(id, at)) return;
      if (!webhooks.some(({ status }) => status === "enabled")) yield "which is not enabled";
      const isDue = versions.some(({ next_attempt_at: due }) => due !== null && due <= started_at);
      if (!isDue) {
        const last = versions.at(-1);
        yield `though the delivery is ${last?.status ?? "missing"} and due at ${last?.next_attempt_at ?? "no time"}`;
      }
      const isPaused = webhooks.every(({ paused_until }) => (paused_until ?? 0) > started_at);
      if (isPaused && webhooks.length > 0) yield "during the pause that it asked for";
      if (ordering !== "fifo") return;
      const [delivery] = readRows(database, deliveriesOfEvent, [event_id, id]);
      const [head] = readRows(database, deliveriesInOrder, [id]);
      if (delivery !== undefined && head !== undefined && head.position < delivery.position) {
        yield `before ${head.event_id}, which comes first`;
      }
    },
);
