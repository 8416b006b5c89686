import { deliveries, webhooks, type WebhookRow } from "../../../src/webhooks/rows.ts";
import type { ApiCall } from "../operators.ts";
import { allRows } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** With more webhooks, each would get few events. */
const maxWebhooks = 4;

const filters = [
  ["*"],
  ["message.*"],
  ["message.updated", "contact.*"],
  ["message.received"],
] as const;

const creator: Actor = {
  does: "An operator creates a webhook.",
  group: "webhooks",
  weight: 0.5,
  async act({ operators, dice, database, receivers }) {
    if (allRows(database, webhooks).length >= maxWebhooks) return;
    const url = receivers.open();
    const events = [...dice.pick(filters)];
    const ordering = dice.chance(0.5) ? "fifo" : "none";
    const input = { url, events, ordering, headers: { "x-shop": "ours" } } as const;
    const text = `create a webhook to ${url} for ${events.join(" ")}, ordering ${ordering}`;
    await operators.request(text, "", (engine, options) => engine.webhooks.create(input, options));
  },
};

type Task = (
  world: World,
  webhook: WebhookRow,
) => { readonly does: string; readonly call: ApiCall<unknown> } | undefined;

const toggle: Task = (_world, { id, status }) => {
  const to = status === "enabled" ? "paused" : "enabled";
  return {
    does: `set to ${to}`,
    call: (engine, options) => engine.webhooks.update(id, { status: to }, options),
  };
};

const rotate: Task = ({ dice }, { id }) => {
  const grace_seconds = dice.pick([0, 5, 60, 86_400]);
  return {
    does: `rotate the secret with a grace period of ${grace_seconds} s`,
    call: (engine, options) => engine.webhooks.rotateSecret(id, { grace_seconds }, options),
  };
};

const redeliver: Task = ({ database, dice }, { id }) => {
  const made = allRows(database, deliveries).filter(
    ({ webhook_id, body }) => webhook_id === id && body !== null,
  );
  const chosen = dice.pick(made.slice(-20));
  if (chosen === undefined) return undefined;
  return {
    does: `redeliver ${chosen.id}`,
    call: (engine, options) => engine.webhooks.redeliver(id, chosen.id, options),
  };
};

const recover: Task = ({ clock, dice }, { id }) => {
  const since = new Date(clock.now() - dice.between(0, 600_000)).toISOString();
  return {
    does: "recover failed deliveries",
    call: (engine, options) => engine.webhooks.recover(id, { since }, options),
  };
};

const sendTest: Task = (_world, { id }) => ({
  does: "send a test event",
  call: (engine, options) => engine.webhooks.test(id, {}, options),
});

const remove: Task = (_world, { id }) => ({
  does: "delete",
  call: (engine, options) => engine.webhooks.remove(id, options),
});

const tasks = [
  { weight: 4, task: toggle },
  { weight: 2, task: rotate },
  { weight: 3, task: redeliver },
  { weight: 2, task: recover },
  { weight: 2, task: sendTest },
  { weight: 1.5, task: remove },
];

const maintainer: Actor = {
  does: "An operator pauses, enables, tests, recovers or deletes a webhook, or rotates its secret.",
  group: "webhooks",
  weight: 1.5,
  async act(world) {
    const { operators, dice, database } = world;
    const webhook = dice.pick(allRows(database, webhooks));
    const chosen = webhook && dice.weighted(tasks).task(world, webhook);
    if (webhook === undefined || chosen === undefined) return;
    await operators.request(`${chosen.does}: ${webhook.id}`, webhook.id, chosen.call);
  },
};

export const webhookOperators: readonly Actor[] = [creator, maintainer];
