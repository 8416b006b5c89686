import type { DeliveryAttempt, DeliveryWithAttempts, Event, Webhook } from "../../entry.ts";
import { matchesPattern } from "../receiver/script.ts";
import type { Finding, World } from "../world/types.ts";
import { allItems, eventsIn, fullPages, handleOf, scopesOf, type WorldScope } from "./reads.ts";

/**
 * Each event has one delivery for each webhook that subscribes to it. If a delivery succeeded, the
 * receiver took the event, and the engine posts it again only if you redeliver it.
 */
export async function everyEventToItsWebhooks(world: World): Promise<Finding | undefined> {
  for (const scope of await scopesOf(world)) {
    const { webhooks } = handleOf(world, scope);
    const events = await eventsIn(world, scope);
    for (const webhook of await allItems(webhooks.list(fullPages))) {
      const found = await findProblem(world, scope, webhook, events);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

async function findProblem(
  world: World,
  scope: WorldScope,
  webhook: Webhook,
  events: readonly Event[],
): Promise<Finding | undefined> {
  const { webhooks } = handleOf(world, scope);
  const list = await allItems(webhooks.deliveries(webhook.id, fullPages));
  const deliveries = Map.groupBy(list, ({ event_id }) => event_id);
  // A commit that read the webhooks before this one was created or changed may still follow.
  const from = Date.parse(webhook.updated_at) + world.commitToleranceMs;
  for (const event of events) {
    const isWanted = webhook.events.some((pattern) => matchesPattern(pattern, event.type));
    const [delivery, another] = deliveries.get(event.id) ?? [];
    const about = [event.id, webhook.id];
    if (another !== undefined) {
      return { description: `${webhook.id} has two deliveries of ${event.id}`, about };
    }
    if (delivery === undefined) {
      if (!isWanted || Date.parse(event.created_at) <= from) continue;
      return { description: `${webhook.id} has no delivery of ${event.id}`, about };
    }
    const problem = problemOf(world, webhook, delivery);
    if (problem !== undefined) {
      return { description: `the delivery of ${event.id} to ${webhook.id} ${problem}`, about };
    }
  }
  return undefined;
}

function problemOf(
  world: World,
  webhook: Webhook,
  delivery: DeliveryWithAttempts,
): string | undefined {
  const { status, event_id, attempts } = delivery;
  const success = attempts.find(({ error }) => error === null);
  const again = success && attempts.find((attempt) => isRepetition(world, attempt, success));
  if (again !== undefined) {
    return `was posted again in attempt ${again.number}, though an earlier one succeeded`;
  }
  // A webhook that was changed can have had another URL.
  const mayHaveMoved = webhook.updated_at !== webhook.created_at;
  const isTaken = world.receiver.received.some(
    ({ event, url }) => event.id === event_id && (url === webhook.url || mayHaveMoved),
  );
  return status === "succeeded" && !isTaken ? "succeeded, though nobody took it" : undefined;
}

/**
 * An engine that lost its job stores an attempt late. Then the attempt has a higher number than a
 * success that began after it.
 */
function isRepetition(
  world: World,
  { number, manual, started_at }: DeliveryAttempt,
  success: DeliveryAttempt,
): boolean {
  const stored = Date.parse(success.started_at) + success.duration_ms + world.commitToleranceMs;
  return !manual && number > success.number && Date.parse(started_at) >= stored;
}
