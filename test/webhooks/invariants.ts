/** Invariants of webhooks, deliveries and attempts. */
import { expect } from "vitest";
import type { DeliveryAttemptRow, DeliveryRow } from "../../src/webhooks/rows.ts";
import { delays, maxAttempts } from "../../src/webhooks/sending/schedule.ts";
import { isGenuine, type ReceivedRequest } from "./receivers.ts";
import type { WebhookWorld } from "./world.ts";

export interface Facts {
  /** Requests without a recorded outcome, because their engine crashed or stopped. */
  readonly cutOff: number;
  /** The secrets that a webhook signs with at a time. */
  readonly secretsAt: (url: string, at: number) => readonly string[];
  /** Events of deleted webhooks. Their deliveries are deleted, too. */
  readonly deleted?: ReadonlySet<string>;
}

export async function checkInvariants(
  world: WebhookWorld,
  { cutOff, secretsAt, deleted = new Set() }: Facts,
): Promise<void> {
  const { receivers } = world;
  const [rows, attempts, hooks] = await Promise.all([
    world.deliveries(),
    world.attempts(),
    world.webhooks(),
  ]);
  const urls = new Map(hooks.map(({ id, url }) => [id, url]));
  expect(receivers.overlaps, "A webhook has at most one request at a time.").toEqual([]);
  for (const request of receivers.seen) checkRequest(request, secretsAt(request.url, request.at));
  for (const delivery of rows) {
    const seen = receivers.seen.filter(
      ({ url, id }) => id === delivery.event_id && url === urls.get(delivery.webhook_id),
    );
    const made = attempts.filter(({ delivery_id }) => delivery_id === delivery.id);
    expect(
      new Set(seen.map(({ body }) => body)).size,
      `All requests of delivery ${delivery.id} have the same body.`,
    ).toBeLessThanOrEqual(1);
    for (const { body } of seen) {
      expect(body, `The receiver got the stored body of delivery ${delivery.id}.`).toBe(
        delivery.body,
      );
    }
    for (const { started_at } of made) {
      expect(
        seen.some(({ at }) => at === started_at),
        `The attempt of delivery ${delivery.id} at ${started_at} reached the receiver.`,
      ).toBe(true);
    }
    checkDelivery(world, delivery, made, seen);
  }
  const kept = receivers.seen.filter(({ id }) => !deleted.has(id));
  const unwritten =
    kept.length - [...receivers.busy.values()].reduce((sum, n) => sum + n, 0) - attempts.length;
  expect(unwritten, "Each recorded attempt was a request.").toBeGreaterThanOrEqual(0);
  expect(
    unwritten,
    "A request without a recorded attempt was cut off by a crash.",
  ).toBeLessThanOrEqual(cutOff);
}

function checkRequest(request: ReceivedRequest, secrets: readonly string[]): void {
  expect(
    request.headers["webhook-timestamp"],
    "A request carries the time at which it was sent, in seconds.",
  ).toBe(String(Math.floor(request.at / 1_000)));
  const signatures = (request.headers["webhook-signature"] ?? "").split(" ");
  expect(signatures, "A request carries one signature for each valid secret.").toHaveLength(
    secrets.length,
  );
  for (const secret of secrets) {
    expect(isGenuine(request, secret), "Each valid secret verifies the request.").toBe(true);
  }
}

function checkDelivery(
  { steps }: WebhookWorld,
  { attempts, history, status }: DeliveryRow,
  made: readonly DeliveryAttemptRow[],
  seen: readonly ReceivedRequest[],
): void {
  expect(
    made.map(({ number }) => number),
    "Attempts are numbered from 1 without a gap.",
  ).toEqual(made.map((_, i) => i + 1));
  expect(attempts, "A delivery counts all of its attempts.").toBe(made.length);
  const automatic = made.filter(({ manual }) => !manual);
  expect(automatic.length, "The history has each automatic attempt once.").toBe(history.length);
  expect(
    automatic.length,
    `A delivery has at most ${maxAttempts} automatic attempts.`,
  ).toBeLessThanOrEqual(maxAttempts);
  const last = made.findIndex(
    ({ status_code: code, manual }) => isGood(code) || (code === 410 && !manual),
  );
  if (last !== -1) {
    expect(
      made.slice(last + 1).every(({ manual }) => manual),
      "After a success or a 410, only manual attempts follow.",
    ).toBe(true);
  }
  if (made.some(({ status_code: code }) => isGood(code))) {
    expect(status, "A delivery with a successful attempt has succeeded.").toBe("succeeded");
  }
  // A manual attempt may have started in the same millisecond as an automatic one. The last requests
  // of that time are those of the recorded attempts.
  const requestOf = (attempt: DeliveryAttemptRow): ReceivedRequest | undefined => {
    const requests = seen.filter(({ at }) => at === attempt.started_at);
    const others = made.filter(({ started_at }) => started_at === attempt.started_at);
    return requests.at(others.indexOf(attempt) - others.length);
  };
  for (const [i, attempt] of automatic.entries()) {
    const [before, now] = [automatic[i - 1], attempt].map((each) => each && requestOf(each));
    if (before === undefined || now === undefined) continue;
    const ended = before.elapsed + before.after;
    const setOn = steps
      .filter(({ elapsed, ms }) => ms > 0 && elapsed >= ended && elapsed <= now.elapsed)
      .reduce((sum, { ms }) => sum + ms, 0);
    expect(
      now.elapsed - ended + setOn,
      `Attempt ${i + 1} waits for the whole delay after the one before.`,
    ).toBeGreaterThanOrEqual(delays[i - 1] ?? Infinity);
  }
}

const isGood = (code: number | null): boolean => code !== null && code >= 200 && code < 300;
