/** Operations on webhooks and deliveries. Each runs on a small model and on the engine. */
import fc from "fast-check";
import { expect } from "vitest";
import type { VirtualClock } from "../../adapters/testing/index.ts";
import type { EventType } from "../../src/events/types.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import type { DeliveryStatus } from "../../src/webhooks/deliveries/delivery-types.ts";
import type { WebhookStatus } from "../../src/webhooks/types.ts";
import { modelCommands } from "../support/model-commands.ts";
import { outcome } from "../support/outcome.ts";
import { all } from "../support/pages.ts";
import { isGenuine, type Receivers } from "./receivers.ts";

/** One event for one webhook. If it is pending while nothing is under way, it is parked. */
interface ModelDelivery {
  readonly event_id: string;
  readonly created_at: string;
  status: "pending" | "succeeded" | "failed";
  attempts: number;
}

/** A webhook and its receiver. A healthy receiver answers 200, an unhealthy one 410. */
export class Hook {
  readonly id: string;
  readonly url: string;
  filter: readonly string[];
  status: WebhookStatus = "enabled";
  isDeleted = false;
  isHealthy = true;
  readonly told: ModelDelivery[] = [];
  /** Newest first. `isInGrace` says whether the second one signs, too. */
  readonly secrets: string[];
  isInGrace = false;
  rotatedAt = 0;

  constructor(id: string, url: string, secret: string, filter: readonly string[]) {
    this.id = id;
    this.url = url;
    this.secrets = [secret];
    this.filter = filter;
  }

  takes(type: EventType): boolean {
    return (
      !this.isDeleted &&
      this.filter.some((each) => each === type || each === `${type.split(".")[0]}.*`)
    );
  }

  /** Sends all pending deliveries in order, until the receiver answers 410. */
  send(): void {
    for (const told of this.told) {
      if (this.status !== "enabled" || told.status !== "pending") continue;
      told.attempts++;
      told.status = this.isHealthy ? "succeeded" : "failed";
      if (!this.isHealthy) this.status = "disabled";
    }
  }

  /** A manual attempt keeps the webhook's status; a failed one keeps the delivery's status. */
  sendByHand(told: ModelDelivery): void {
    told.attempts++;
    if (this.isHealthy) told.status = "succeeded";
  }
}

export interface Model {
  readonly hooks: Hook[];
}

export interface Real {
  readonly account: AccountHandle;
  readonly clock: VirtualClock;
  readonly receivers: Receivers;
}

type Command = fc.AsyncCommand<Model, Real>;

const statuses: readonly DeliveryStatus[] = [
  "pending",
  "succeeded",
  "failed",
  "parked",
  "canceled",
];

async function checkAgreement(
  { hooks }: Model,
  { account: { webhooks }, receivers: { seen } }: Real,
): Promise<void> {
  for (const hook of hooks) {
    const { id, url, told, status, filter, secrets } = hook;
    const came = seen.filter((request) => request.url === url);
    const counts = new Map(told.map(({ event_id, attempts }) => [event_id, attempts]));
    for (const [event_id, attempts] of counts) {
      expect(
        came.filter((request) => request.id === event_id),
        `The receiver ${url} gets event ${event_id} once for each attempt.`,
      ).toHaveLength(attempts);
    }
    const last = came.at(-1);
    if (hook.isDeleted) {
      expect(await outcome(webhooks.get(id)), `The deleted webhook ${id} is not found.`).toBe(
        "not_found",
      );
      continue;
    }
    expect(await webhooks.get(id)).toMatchObject({ url, status, events: filter });
    const shown = told.toReversed().map(({ event_id, status: stored, attempts }) => ({
      event_id,
      status: stored === "pending" ? ("parked" as const) : stored,
      attempt_count: attempts,
    }));
    const listed = await all((page) => webhooks.deliveries(id, page), 3);
    expect(listed).toMatchObject(shown);
    expect(listed, `The webhook ${id} has one delivery for each event that it takes.`).toHaveLength(
      shown.length,
    );
    for (const { id: delivery, attempts } of listed) {
      expect(attempts, `The list shows the last five attempts of delivery ${delivery}.`).toEqual(
        (await webhooks.delivery(id, delivery)).attempts.slice(-5),
      );
    }
    for (const asked of statuses) {
      const found = await all((page) => webhooks.deliveries(id, { ...page, status: asked }), 3);
      expect(
        found.map(({ event_id }) => event_id),
        `The list of ${asked} deliveries has those in this status, newest first.`,
      ).toEqual(shown.filter((each) => each.status === asked).map(({ event_id }) => event_id));
    }
    const signs = hook.isInGrace ? 2 : 1;
    if (last !== undefined && last.at > hook.rotatedAt) {
      expect(
        secrets.map((secret) => isGenuine(last, secret)),
        "The newest secret signs, and the previous one too during the overlap.",
      ).toEqual(secrets.map((_, i) => i < signs));
    }
  }
}

/** Each operation is followed by a second in which all that is pending is sent. */
const command = modelCommands<Model, Real>(async (model, real) => {
  for (const hook of model.hooks) hook.send();
  await real.clock.advance(1_000);
  await checkAgreement(model, real);
});

/** An operation on one webhook. On a deleted webhook it must fail with `not_found`. */
function onHook(
  name: string,
  nth: number,
  run: (hook: Hook, real: Real) => Promise<unknown>,
): Command {
  return command(
    `${name}(${nth})`,
    async ({ hooks }, real) => {
      const hook = hooks[nth % hooks.length];
      if (hook === undefined) throw new Error("there is no webhook");
      const { isDeleted } = hook;
      const done = run(hook, real);
      if (isDeleted) {
        expect(
          await outcome(done),
          "An operation on a deleted webhook fails with `not_found`.",
        ).toBe("not_found");
      } else await done;
    },
    ({ hooks }) => hooks.length > 0,
  );
}

const create = (filter: readonly string[]): Command =>
  command("create", async ({ hooks }, { account: { webhooks, scope }, receivers }) => {
    const url = `https://hook-${hooks.length}.example.com/${scope.account_id}`;
    const { id, secret } = await webhooks.create({ url, events: [...filter] as ["*"] });
    const hook = new Hook(id, url, secret, filter);
    receivers.at(url, () => ({ status: hook.isHealthy ? 200 : 410 }));
    hooks.push(hook);
  });

const fire = (type: EventType): Command =>
  command(`fire(${type})`, async ({ hooks }, { account: { sandbox } }) => {
    const { id: event_id, created_at } = await sandbox.event({ type });
    for (const hook of hooks) {
      if (hook.takes(type)) {
        hook.told.push({ event_id, created_at, status: "pending", attempts: 0 });
      }
    }
  });

const setStatus = (nth: number, status: "enabled" | "paused"): Command =>
  onHook(status, nth, async (hook, { account: { webhooks } }) => {
    await webhooks.update(hook.id, { status });
    hook.status = status;
  });

const refilter = (nth: number, filter: readonly string[]): Command =>
  onHook("refilter", nth, async (hook, { account: { webhooks } }) => {
    await webhooks.update(hook.id, { events: [...filter] as ["*"] });
    hook.filter = filter;
  });

const rotate = (nth: number, grace_seconds: number): Command =>
  onHook(`rotate(${grace_seconds})`, nth, async (hook, { account: { webhooks }, clock }) => {
    const { secret } = await webhooks.rotateSecret(hook.id, { grace_seconds });
    hook.secrets.unshift(secret);
    hook.isInGrace = grace_seconds > 0;
    hook.rotatedAt = clock.now();
  });

const remove = (nth: number): Command =>
  onHook("remove", nth, async (hook, { account: { webhooks } }) => {
    await webhooks.remove(hook.id);
    hook.isDeleted = true;
    hook.status = "paused";
  });

const setHealth = (nth: number, isHealthy: boolean): Command =>
  onHook(isHealthy ? "well" : "ill", nth, async (hook, { account: { webhooks } }) => {
    await webhooks.get(hook.id);
    hook.isHealthy = isHealthy;
  });

const test = (nth: number): Command =>
  onHook("test", nth, async (hook, { account: { webhooks } }) => {
    const { event_id, created_at } = await webhooks.test(hook.id);
    hook.told.push({
      event_id,
      created_at,
      status: hook.isHealthy ? "succeeded" : "failed",
      attempts: 1,
    });
  });

const redeliver = (nth: number, mth: number): Command =>
  onHook(`redeliver(${mth})`, nth, async (hook, { account: { webhooks } }) => {
    const { data } = await webhooks.deliveries(hook.id, { limit: 100 });
    const told = hook.told[mth % Math.max(1, hook.told.length)];
    const delivery = data.find(({ event_id }) => event_id === told?.event_id);
    if (told === undefined || delivery === undefined) return;
    await webhooks.redeliver(hook.id, delivery.id);
    hook.sendByHand(told);
  });

const recover = (nth: number, mth: number): Command =>
  onHook(`recover(${mth})`, nth, async (hook, { account: { webhooks } }) => {
    const since =
      hook.told[mth % Math.max(1, hook.told.length)]?.created_at ?? "2026-01-01T00:00:00.000Z";
    await webhooks.recover(hook.id, { since });
    await webhooks.recover(hook.id, { since });
    for (const told of hook.told) {
      if (told.status === "failed" && told.created_at >= since) hook.sendByHand(told);
    }
  });

const nth = fc.nat(20);
const types = ["message.sent", "message.received", "contact.created"] as const;
const filters = fc.subarray([...types, "message.*"], { minLength: 1 });

export const webhookCommands = fc.commands<Model, Real, false>(
  [
    filters.map(create),
    fc.constantFrom(...types).map(fire),
    fc.constantFrom(...types).map(fire),
    fc.constantFrom(...types).map(fire),
    fc
      .tuple(nth, fc.constantFrom("enabled" as const, "paused" as const))
      .map(([hook, status]) => setStatus(hook, status)),
    nth.map((hook) => setStatus(hook, "enabled")),
    fc.tuple(nth, filters).map(([hook, filter]) => refilter(hook, filter)),
    fc.tuple(nth, fc.constantFrom(0, 3_600)).map(([hook, seconds]) => rotate(hook, seconds)),
    nth.map(remove),
    fc.tuple(nth, fc.boolean()).map(([hook, isHealthy]) => setHealth(hook, isHealthy)),
    nth.map(test),
    fc.tuple(nth, nth).map(([hook, delivery]) => redeliver(hook, delivery)),
    fc.tuple(nth, nth).map(([hook, delivery]) => recover(hook, delivery)),
  ],
  { size: "large", maxCommands: 30 },
);
