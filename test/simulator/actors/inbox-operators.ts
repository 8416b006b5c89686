import { agents } from "../../../src/agents/rows.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import { conversations, type ConversationRow } from "../../../src/conversations/rows.ts";
import type { ApiCall } from "../operators.ts";
import { allRows } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";
import { sendMessage } from "./message-senders.ts";

/** One of the latest conversations, so that much happens to each. */
function pickConversation({ database, dice }: World): ConversationRow | undefined {
  return dice.pick(allRows(database, conversations).slice(-8));
}

export const labels = ["vip", "billing", "later"] as const;

type Kind = "markingRead" | "markingUnread" | "opening" | "assigning" | "closing";

type Task = (
  world: World,
  conversation: ConversationRow,
) => {
  readonly does: string;
  readonly call: ApiCall<unknown>;
  readonly as?: Kind;
};

const assign: Task = ({ dice, database }, { id }) => {
  const agent = {
    type: "agent",
    id: dice.pick(allRows(database, agents))?.id ?? "agt_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  } as const;
  const assignee = dice.pick([
    { type: "human", id: "ann" } as const,
    { type: "human", id: "bo" } as const,
    agent,
    null,
  ]);
  return {
    does: `assign to ${assignee?.id ?? "nobody"}`,
    call: (engine, options) => engine.conversations.assign(id, assignee, options),
    as: "assigning",
  };
};

const snooze: Task = ({ dice, clock }, { id }) => {
  const until = dice.chance(0.1) ? clock.now() - 1_000 : clock.now() + dice.between(500, 240_000);
  const snoozed_until = new Date(until).toISOString();
  return {
    does: `snooze until ${snoozed_until}`,
    call: (engine, options) =>
      engine.conversations.update(id, { status: "snoozed", snoozed_until }, options),
  };
};

const close: Task = (_world, { id }) => ({
  does: "close",
  call: (engine, options) => engine.conversations.update(id, { status: "closed" }, options),
  as: "closing",
});

const reopen: Task = (_world, { id }) => ({
  does: "open",
  call: (engine, options) => engine.conversations.update(id, { status: "open" }, options),
  as: "opening",
});

const label: Task = ({ dice, words }, { id }) => {
  const chosen = [
    ...labels.filter(() => dice.chance(0.5)),
    ...(dice.chance(0.3) ? [words.next()] : []),
  ];
  return {
    does: `label with ${chosen.join(" ")}`,
    call: (engine, options) => engine.conversations.setLabels(id, chosen, options),
  };
};

const change: Task = ({ dice, words }, { id }) => {
  const changes = dice.pick([
    { priority: dice.pick(["low", "normal", "high"]) },
    { metadata: { order: words.next() } },
    { opt_out_suspected: false as const },
  ]);
  return {
    does: `set ${JSON.stringify(changes)}`,
    call: (engine, options) => engine.conversations.update(id, changes, options),
  };
};

const note: Task = ({ words }, { id }) => {
  const body = `Note ${words.next()}`;
  return {
    does: "add a note",
    call: (engine, options) => engine.conversations.addNote(id, { body }, options),
  };
};

const read: Task = (_world, { id }) => ({
  does: "mark as read",
  call: (engine, options) => engine.conversations.markRead(id, options),
  as: "markingRead",
});

const unread: Task = (_world, { id }) => ({
  does: "mark as unread",
  call: (engine, options) => engine.conversations.markUnread(id, options),
  as: "markingUnread",
});

const handOver: Task = ({ dice, words }, { id }) => {
  if (dice.chance(0.5)) {
    const call: ApiCall<unknown> = (engine, options) => engine.conversations.handBack(id, options);
    return { does: "hand back", call, as: "assigning" };
  }
  const handoff = { reason: `Because ${words.next()}`, summary: `About ${words.next()}` };
  const call: ApiCall<unknown> = (engine, options) =>
    engine.conversations.handOff(id, handoff, options);
  return { does: "hand off", call, as: "assigning" };
};

const tasks = [
  { weight: 3, task: assign },
  { weight: 4, task: snooze },
  { weight: 4, task: close },
  { weight: 3, task: reopen },
  { weight: 4, task: label },
  { weight: 2, task: change },
  { weight: 3, task: note },
  { weight: 4, task: read },
  { weight: 1, task: unread },
  { weight: 2, task: handOver },
];

const operator: Actor = {
  does: "An operator works on a conversation: assigns, snoozes, closes, labels, and so on.",
  group: "inbox",
  weight: 5,
  async act(world) {
    const conversation = pickConversation(world);
    if (conversation === undefined) return;
    const { dice } = world;
    await work(world, conversation, dice.weighted(tasks).task);
  },
};

const interventions = [
  { weight: 2, task: assign },
  { weight: 4, task: handOver },
  { weight: 1, task: close },
];

const intervener: Actor = {
  does: "An operator intervenes in a conversation while an agent's run is under way.",
  group: "agents",
  weight: 2,
  async act(world) {
    const { dice, database } = world;
    const busy = new Set(
      allRows(database, runs).flatMap((run) =>
        run.status === "running" ? [run.conversation_id] : [],
      ),
    );
    const conversation = dice.pick(
      allRows(database, conversations).filter(({ id }) => busy.has(id)),
    );
    if (conversation === undefined) return;
    if (dice.chance(0.3)) return reply(world, conversation.id);
    await work(world, conversation, dice.weighted(interventions).task, "assigning");
  },
};

async function work(
  world: World,
  conversation: ConversationRow,
  task: Task,
  ...kinds: readonly Kind[]
): Promise<void> {
  const { operators } = world;
  const { id, contact_id } = conversation;
  const { does, call, as } = task(world, conversation);
  const all = new Set(as === undefined ? kinds : [as, ...kinds]);
  for (const each of all) operators[each].begin(id);
  const answer = await operators.request(`${does}: ${id}`, contact_id, call);
  if (answer.kind === "unknown") return;
  for (const each of all) operators[each].end(id);
}

/** Closes four of five conversations that are not closed. */
export function closeMostConversations(world: World): void {
  const { database, dice } = world;
  for (const conversation of allRows(database, conversations)) {
    if (conversation.status === "closed" || dice.chance(0.2)) continue;
    void work(world, conversation, close);
  }
}

const replier: Actor = {
  does: "An operator replies in a conversation.",
  group: "inbox",
  weight: 2,
  async act(world) {
    const conversation = pickConversation(world);
    if (conversation !== undefined) await reply(world, conversation.id);
  },
};

async function reply(world: World, id: string): Promise<void> {
  const body = `A person replies ${world.words.next()}`;
  world.operators.opening.begin(id);
  world.operators.assigning.begin(id);
  const request = await sendMessage(world, { to: "", body }, (engine, options) =>
    engine.conversations.reply(id, { body, author_id: "ann" }, options),
  );
  if (request.unknown) return;
  world.operators.opening.end(id);
  world.operators.assigning.end(id);
}

const opener: Actor = {
  does: "An operator opens a conversation with a contact or a number.",
  group: "inbox",
  weight: 0.5,
  async act(world) {
    const conversation = pickConversation(world);
    const to =
      conversation === undefined || world.dice.chance(0.3)
        ? world.phones.pick(world.dice)
        : conversation.contact_id;
    const contact_id = to.startsWith("+") ? "" : to;
    world.operators.opening.begin(to);
    const answer = await world.operators.request(
      `open a conversation with ${to}`,
      contact_id,
      (engine, options) => engine.conversations.open({ to }, options),
    );
    if (answer.kind !== "unknown") world.operators.opening.end(to);
  },
};

export const inboxOperators: readonly Actor[] = [operator, replier, opener, intervener];
