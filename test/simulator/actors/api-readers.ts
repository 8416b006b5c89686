import type { MessagingEngine } from "../../../adapters/entry.ts";
import { playbooks } from "../../../src/agents/playbooks/rows.ts";
import { agents } from "../../../src/agents/rows.ts";
import { runs, type RunRow } from "../../../src/agents/runs/rows.ts";
import { contacts } from "../../../src/contacts/rows.ts";
import { conversations } from "../../../src/conversations/rows.ts";
import { events } from "../../../src/events/rows.ts";
import { messages } from "../../../src/messages/rows.ts";
import { deliveries, webhooks } from "../../../src/webhooks/rows.ts";
import { laws } from "../invariant.ts";
import { allRows } from "../rows.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** A read, and the contacts and other resources without which it may find nothing. */
interface Read {
  readonly does: string;
  readonly subjects: readonly string[];
  readonly call: (engine: MessagingEngine) => Promise<unknown>;
}
type Draw = (world: World) => Read | undefined;

/** A read of a resource with an id, which is one of the latest. */
function ofLatest<R extends { readonly id: string }>(
  rows: (world: World) => readonly R[],
  does: string,
  subjects: (row: R, world: World) => readonly string[],
  call: (engine: MessagingEngine, row: R) => Promise<unknown>,
): Draw {
  return (world) => {
    const row = world.dice.pick(rows(world).slice(-8));
    if (row === undefined) return undefined;
    return {
      does: `${does} ${row.id}`,
      subjects: [row.id, ...subjects(row, world)],
      call: (engine) => call(engine, row),
    };
  };
}

const read =
  (does: string, call: Read["call"]): Draw =>
  () => ({ does, subjects: [], call });

const contactRows = ({ database }: World) =>
  allRows(database, contacts).filter(({ merged_into }) => merged_into === null);
const conversationRows = ({ database }: World) => allRows(database, conversations);
const messageRows = ({ database }: World) => allRows(database, messages);
const runRows = ({ database }: World) => allRows(database, runs);
const ofContact = ({ contact_id }: { readonly contact_id: string }): readonly string[] => [
  contact_id,
];
const nobody = (): readonly string[] => [];

const draws: readonly Draw[] = [
  read("get the account", (engine) => engine.account().get()),
  read("get the usage", (engine) => engine.account().usage()),
  ({ clock }) => {
    const from = new Date(clock.now() - 3_600_000).toISOString();
    const to = new Date(clock.now()).toISOString();
    return {
      does: "get the usage by hour",
      subjects: [],
      call: (engine) => engine.account().usageByHour({ from, to }),
    };
  },
  read("get the errors", (engine) => engine.account().errorCounts()),
  read("get the backlog", (engine) => engine.account().backlog()),
  read("list contacts", (engine) => engine.contacts.list()),
  read("list contacts with a label", (engine) => engine.contacts.list({ label: "vip" })),
  read("list senders", (engine) => engine.senders.list()),
  read("list conversations", (engine) => engine.conversations.list()),
  read("list messages", (engine) => engine.messages.list()),
  read("list agents", (engine) => engine.agents.list()),
  read("list actions", (engine) => engine.agents.actions()),
  read("list playbooks", (engine) => engine.playbooks.list()),
  read("list webhooks", (engine) => engine.webhooks.list()),
  read("list events", (engine) => engine.events.list()),
  (world) => {
    const ms = world.dice.between(1_000, 20_000);
    return { does: `follow events for ${ms} ms`, subjects: [], call: follow(world, ms) };
  },
  (world) => {
    const input = {
      to: world.phones.pick(world.dice),
      body: `preview of ${world.words.next()}`,
    };
    const call: Read["call"] = (engine) => engine.messages.preview(input);
    return { does: "preview a message", subjects: [], call };
  },
  read("search conversations", (engine) => engine.conversations.search({ q: "text" })),
  ofLatest(contactRows, "get", nobody, (engine, { id }) => engine.contacts.get(id)),
  ofLatest(contactRows, "list the conversations of", nobody, (engine, { id }) =>
    engine.contacts.conversations(id),
  ),
  ofLatest(contactRows, "list the messages of", nobody, (engine, { id }) =>
    engine.contacts.messages(id),
  ),
  ofLatest(contactRows, "list the observations of", nobody, (engine, { id }) =>
    engine.contacts.observations(id),
  ),
  ofLatest(contactRows, "get the consents of", nobody, (engine, { id }) =>
    engine.contacts.consents(id),
  ),
  ofLatest(contactRows, "get the sentiment of", nobody, (engine, { id }) =>
    engine.contacts.sentiment(id),
  ),
  (world) => {
    const [a, b] = [1, 2].map(() => world.dice.pick(contactRows(world).slice(-8))?.id);
    if (a === undefined || b === undefined || a === b) return undefined;
    const call: Read["call"] = (engine) => engine.contacts.previewMerge(a, b);
    return { does: `preview the merge of ${b} into ${a}`, subjects: [a, b], call };
  },
  ofLatest(conversationRows, "get", ofContact, (engine, { id }) => engine.conversations.get(id)),
  ofLatest(conversationRows, "list the messages of", ofContact, (engine, { id }) =>
    engine.conversations.messages(id),
  ),
  ofLatest(conversationRows, "list the notes of", ofContact, (engine, { id }) =>
    engine.conversations.notes(id),
  ),
  ofLatest(
    (world: World) => conversationRows(world).filter(({ medium }) => medium === "webchat"),
    "show that somebody types in",
    ofContact,
    (engine, { id }) => engine.conversations.typing(id, { author_id: "ann" }),
  ),
  ofLatest(messageRows, "get the timeline of", ofContact, (engine, { id }) =>
    engine.messages.timeline(id),
  ),
  ofLatest(
    ({ visitors }: World) =>
      visitors.present.map(({ admission: { session_id: id, contact_id } }) => ({ id, contact_id })),
    "list the messages of session",
    ofContact,
    (engine, { id }) => engine.webchat.messages(id),
  ),
  ofLatest(
    ({ database }: World) => allRows(database, agents),
    "get",
    nobody,
    (engine, { id }) => engine.agents.get(id),
  ),
  ofLatest(runRows, "list the runs beside", ofAgent, (engine, { agent_id }) =>
    engine.agents.runs(agent_id),
  ),
  ofLatest(runRows, "get", ofAgent, (engine, { agent_id, id }) => engine.agents.run(agent_id, id)),
  ofLatest(
    ({ database }: World) => allRows(database, playbooks),
    "get",
    nobody,
    (engine, { id }) => engine.playbooks.get(id),
  ),
  ofLatest(
    ({ database }: World) => allRows(database, webhooks),
    "get",
    nobody,
    (engine, { id }) => engine.webhooks.get(id),
  ),
  ofLatest(
    ({ database }: World) => allRows(database, webhooks),
    "list the deliveries of",
    nobody,
    (engine, { id }) => engine.webhooks.deliveries(id),
  ),
  ofLatest(
    ({ database }: World) => allRows(database, deliveries),
    "get",
    ({ webhook_id }) => [webhook_id],
    (engine, { id, webhook_id }) => engine.webhooks.delivery(webhook_id, id),
  ),
  ofLatest(
    ({ database }: World) => allRows(database, events),
    "get",
    nobody,
    (engine, { id }) => engine.events.get(id),
  ),
];

/** The agent of a run and the contact of its conversation. */
function ofAgent({ agent_id, conversation_id }: RunRow, world: World): readonly string[] {
  const conversation = conversationRows(world).find(({ id }) => id === conversation_id);
  return conversation === undefined ? [agent_id] : [agent_id, conversation.contact_id];
}

/** The last event that a stream of each world has sent. The next stream continues after it. */
const lastStreamed = new WeakMap<World, string>();

/** Reads the stream of events for a while, after the last event of the stream before. */
const follow =
  (world: World, ms: number): Read["call"] =>
  async (engine) => {
    const connection = new AbortController();
    void world.clock.sleep(ms).then(() => connection.abort("closed"));
    const after = lastStreamed.get(world);
    const stream = await engine.events.stream(after === undefined ? {} : { last_event_id: after }, {
      signal: connection.signal,
    });
    const streamed: string[] = [];
    for await (const { id } of stream) streamed.push(id);
    checkStream(world, streamed, after);
    const last = streamed.at(-1);
    if (last !== undefined) lastStreamed.set(world, last);
    return last;
  };

/** Compares a stream with the log: from after the event that it continues, to its own last event. */
function checkStream(world: World, streamed: readonly string[], after: string | undefined): void {
  const log = allRows(world.database, events).toSorted((a, b) => a.position - b.position);
  const ids = log.map(({ id }) => id as string);
  const from = after === undefined ? ids.indexOf(streamed[0] ?? "") : ids.indexOf(after) + 1;
  const expected = ids.slice(from, ids.indexOf(streamed.at(-1) ?? "") + 1);
  const at = streamed.findIndex((id, i) => id !== expected[i]);
  if (at === -1) return;
  const missed = expected[at] ?? "no event";
  const description = `a stream has ${streamed[at] ?? "nothing"} in the place of ${missed}`;
  world.report(laws.streamsComplete, [missed], description);
}

/** How many reads a client begins together at most. */
const maxReads = 5;

const reader: Actor = {
  does: "A client reads something that no other client reads: lists, counts, the event stream.",
  group: "reads",
  weight: 2,
  async act(world) {
    const { dice, operators } = world;
    const drawn = Array.from({ length: dice.between(1, maxReads) }, () =>
      dice.pick(draws)?.(world),
    ).filter((each) => each !== undefined);
    await Promise.all(
      drawn.map(({ does, subjects, call }) => operators.request(does, subjects, call)),
    );
  },
};

export const apiReaders: readonly Actor[] = [reader];
