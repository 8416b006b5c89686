import { deliveries, type WebhookRow, webhooks } from "../../../src/webhooks/rows.ts";
import type { Errand } from "../desk.ts";
import { allOf } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** More would each be told little. */
const mostWebhooks = 4;

const filters = [
  ["*"],
  ["message.*"],
  ["message.updated", "contact.*"],
  ["message.received"],
] as const;

const subscriber: Actor = {
  name: "subscriber",
  part: "webhooks",
  weight: 0.5,
  async act({ desk, dice, ground, receivers }) {
    if (allOf(ground, webhooks).length >= mostWebhooks) return;
    const url = receivers.open();
    const events = [...dice.pick(filters)];
    const ordering = dice.chance(0.5) ? "fifo" : "none";
    const input = { url, events, ordering, headers: { "x-shop": "ours" } } as const;
    await desk.run(`has ${url} told of ${events.join(" ")}, ${ordering}`, "", (engine, options) =>
      engine.webhooks.create(input, options),
    );
  },
};

type Chore = (
  world: World,
  webhook: WebhookRow,
) => { readonly does: string; readonly errand: Errand<unknown> } | undefined;

const turn: Chore = (_world, { id, status }) => {
  const to = status === "enabled" ? "paused" : "enabled";
  return {
    does: `has it ${to}`,
    errand: (engine, options) => engine.webhooks.update(id, { status: to }, options),
  };
};

const rotate: Chore = ({ dice }, { id }) => {
  const grace_seconds = dice.pick([0, 5, 60, 86_400]);
  return {
    does: `rotates its secret, ${grace_seconds} s`,
    errand: (engine, options) => engine.webhooks.rotateSecret(id, { grace_seconds }, options),
  };
};

const redeliver: Chore = ({ ground, dice }, { id }) => {
  const made = allOf(ground, deliveries).filter(
    ({ webhook_id, body }) => webhook_id === id && body !== null,
  );
  const chosen = dice.pick(made.slice(-20));
  if (chosen === undefined) return undefined;
  return {
    does: `sends ${chosen.id} again`,
    errand: (engine, options) => engine.webhooks.redeliver(id, chosen.id, options),
  };
};

const recover: Chore = ({ clock, dice }, { id }) => {
  const since = new Date(clock.now() - dice.between(0, 600_000)).toISOString();
  return {
    does: `recovers it`,
    errand: (engine, options) => engine.webhooks.recover(id, { since }, options),
  };
};

const probe: Chore = (_world, { id }) => ({
  does: "tests it",
  errand: (engine, options) => engine.webhooks.test(id, {}, options),
});

const remove: Chore = (_world, { id }) => ({
  does: "deletes it",
  errand: (engine, options) => engine.webhooks.remove(id, options),
});

const chores = [
  { weight: 5, chore: turn },
  { weight: 3, chore: rotate },
  { weight: 3, chore: redeliver },
  { weight: 2, chore: recover },
  { weight: 1, chore: probe },
  { weight: 0.7, chore: remove },
];

const keeper: Actor = {
  name: "webhook keeper",
  part: "webhooks",
  weight: 1,
  async act(world) {
    const { desk, dice, ground } = world;
    const webhook = dice.pick(allOf(ground, webhooks));
    const chosen = webhook && dice.weighted(chores).chore(world, webhook);
    if (webhook === undefined || chosen === undefined) return;
    await desk.run(`${chosen.does}: ${webhook.id}`, webhook.id, chosen.errand);
  },
};

export const webhookKeepers: readonly Actor[] = [subscriber, keeper];
