import { agents } from "../../../src/agents/rows.ts";
import { conversations, type ConversationRow } from "../../../src/conversations/rows.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import type { Errand } from "../desk.ts";
import { allOf } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";
import { placeOrder } from "./senders.ts";

/** Of the latest conversations, so that one has much done to it. */
function some({ ground, dice }: World): ConversationRow | undefined {
  return dice.pick(allOf(ground, conversations).slice(-8));
}

export const labels = ["vip", "billing", "later"] as const;

type Chore = (
  world: World,
  conversation: ConversationRow,
) => {
  readonly does: string;
  readonly errand: Errand<unknown>;
  readonly as?: "reading" | "opening" | "handling";
};

const assign: Chore = ({ dice, ground }, { id }) => {
  const agent = {
    type: "agent",
    id: dice.pick(allOf(ground, agents))?.id ?? "agt_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  } as const;
  const assignee = dice.pick([
    { type: "human", id: "ann" } as const,
    { type: "human", id: "bo" } as const,
    agent,
    null,
  ]);
  return {
    does: `assigns it to ${assignee?.id ?? "nobody"}`,
    errand: (engine, options) => engine.conversations.assign(id, assignee, options),
    as: "handling",
  };
};

const snooze: Chore = ({ dice, clock }, { id }) => {
  const until = dice.chance(0.1) ? clock.now() - 1_000 : clock.now() + dice.between(500, 240_000);
  const snoozed_until = new Date(until).toISOString();
  return {
    does: `snoozes it until ${snoozed_until}`,
    errand: (engine, options) =>
      engine.conversations.update(id, { status: "snoozed", snoozed_until }, options),
  };
};

const close: Chore = (_world, { id }) => ({
  does: "closes it",
  errand: (engine, options) => engine.conversations.update(id, { status: "closed" }, options),
});

const reopen: Chore = (_world, { id }) => ({
  does: "opens it",
  errand: (engine, options) => engine.conversations.update(id, { status: "open" }, options),
  as: "opening",
});

const label: Chore = ({ dice, words }, { id }) => {
  const chosen = [
    ...labels.filter(() => dice.chance(0.5)),
    ...(dice.chance(0.3) ? [words.draw()] : []),
  ];
  return {
    does: `labels it ${chosen.join(" ")}`,
    errand: (engine, options) => engine.conversations.setLabels(id, chosen, options),
  };
};

const rank: Chore = ({ dice, words }, { id }) => {
  const changes = dice.pick([
    { priority: dice.pick(["low", "normal", "high"]) },
    { metadata: { order: words.draw() } },
    { opt_out_suspected: false as const },
  ]);
  return {
    does: `sets ${JSON.stringify(changes)}`,
    errand: (engine, options) => engine.conversations.update(id, changes, options),
  };
};

const note: Chore = ({ words }, { id }) => {
  const body = `Note ${words.draw()}`;
  return {
    does: "notes something",
    errand: (engine, options) => engine.conversations.addNote(id, { body }, options),
  };
};

const read: Chore = (_world, { id }) => ({
  does: "reads it",
  errand: (engine, options) => engine.conversations.markRead(id, options),
  as: "reading",
});

const passOn: Chore = ({ dice, words }, { id }) => {
  if (dice.chance(0.5)) {
    const errand: Errand<unknown> = (engine, options) => engine.conversations.handBack(id, options);
    return { does: "hands it back", errand, as: "handling" };
  }
  const handOff = { reason: `Because ${words.draw()}`, summary: `About ${words.draw()}` };
  const errand: Errand<unknown> = (engine, options) =>
    engine.conversations.handOff(id, handOff, options);
  return { does: "hands it off", errand, as: "handling" };
};

const chores = [
  { weight: 3, chore: assign },
  { weight: 4, chore: snooze },
  { weight: 4, chore: close },
  { weight: 3, chore: reopen },
  { weight: 4, chore: label },
  { weight: 2, chore: rank },
  { weight: 2, chore: note },
  { weight: 4, chore: read },
  { weight: 2, chore: passOn },
];

const operator: Actor = {
  name: "operator",
  part: "desk",
  weight: 5,
  async act(world) {
    const conversation = some(world);
    if (conversation === undefined) return;
    const { desk, dice } = world;
    const { id, contact_id } = conversation;
    const { does, errand, as } = dice.weighted(chores).chore(world, conversation);
    if (as !== undefined) desk[as].begin(id);
    const answer = await desk.run(`${does}: ${id}`, contact_id, errand);
    if (as !== undefined && answer.kind !== "unknown") desk[as].end(id);
  },
};

const interventions = [
  { weight: 2, chore: assign },
  { weight: 4, chore: passOn },
  { weight: 1, chore: close },
];

/** Steps in while an agent is at work. */
const meddler: Actor = {
  name: "meddler",
  part: "agents",
  weight: 2,
  async act(world) {
    const { desk, dice, ground } = world;
    const busy = new Set(
      allOf(ground, runs).flatMap((run) => (run.status === "running" ? [run.conversation_id] : [])),
    );
    const conversation = dice.pick(allOf(ground, conversations).filter(({ id }) => busy.has(id)));
    if (conversation === undefined) return;
    const { id, contact_id } = conversation;
    if (dice.chance(0.3)) return reply(world, id);
    const { does, errand } = dice.weighted(interventions).chore(world, conversation);
    desk.handling.begin(id);
    const answer = await desk.run(`${does}: ${id}`, contact_id, errand);
    if (answer.kind !== "unknown") desk.handling.end(id);
  },
};

/** Most of what is open is closed. */
export function closeForTheNight(world: World): void {
  const { ground, dice, desk } = world;
  for (const conversation of allOf(ground, conversations)) {
    const { id, contact_id, status } = conversation;
    if (status === "closed" || dice.chance(0.2)) continue;
    const { does, errand } = close(world, conversation);
    void desk.run(`${does}: ${id}`, contact_id, errand);
  }
}

const replier: Actor = {
  name: "replier",
  part: "desk",
  weight: 2,
  async act(world) {
    const conversation = some(world);
    if (conversation !== undefined) await reply(world, conversation.id);
  },
};

async function reply(world: World, id: string): Promise<void> {
  const body = `A person replies ${world.words.draw()}`;
  world.desk.opening.begin(id);
  world.desk.handling.begin(id);
  const order = await placeOrder(world, { to: "", body }, (engine, options) =>
    engine.conversations.reply(id, { body, author_id: "ann" }, options),
  );
  if (order.unknown) return;
  world.desk.opening.end(id);
  world.desk.handling.end(id);
}

const opener: Actor = {
  name: "opener",
  part: "desk",
  weight: 0.5,
  async act(world) {
    const conversation = some(world);
    const to =
      conversation === undefined || world.dice.chance(0.3)
        ? world.people.some(world.dice)
        : conversation.contact_id;
    const contact_id = to.startsWith("+") ? "" : to;
    world.desk.opening.begin(to);
    const answer = await world.desk.run(
      `opens a conversation with ${to}`,
      contact_id,
      (engine, options) => engine.conversations.open({ to }, options),
    );
    if (answer.kind !== "unknown") world.desk.opening.end(to);
  },
};

export const operators: readonly Actor[] = [operator, replier, opener, meddler];
