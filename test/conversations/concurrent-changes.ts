/** Single and concurrent changes of conversations, on the model and on two engines. */
import fc from "fast-check";
import { expect } from "vitest";
import type { VirtualClock } from "../../adapters/testing/index.ts";
import { agentSessions } from "../../src/agents/rows.ts";
import {
  conversationLabels,
  conversations,
  type ConversationLabelRow,
  type ConversationRow,
} from "../../src/conversations/rows.ts";
import type { AccountHandle } from "../../src/host/handles/handles.ts";
import { messagesOfConversation } from "../../src/messages/rows.ts";
import type { Message } from "../../src/messages/types.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { Reads } from "../../src/store/reads/reads.ts";
import type { Carrier } from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { outcome } from "../support/outcome.ts";
import {
  apply,
  pass,
  targetOf,
  theAgent,
  type Change,
  type Model,
  type ModelConversation,
} from "./model.ts";

export interface Person {
  readonly medium: "text" | "webchat";
  readonly address: string;
}

export const people: readonly Person[] = [
  { medium: "text", address: "+15005551001" },
  { medium: "text", address: "+15005551002" },
  { medium: "webchat", address: "visitor-1" },
];

/** Receives visitors' messages. */
export const lobby = "lobby";

export interface World {
  /** One account, through each of two engines. */
  readonly accounts: readonly [AccountHandle, AccountHandle];
  /** The carrier of each engine. */
  readonly lines: readonly [Carrier, Carrier];
  readonly clock: VirtualClock;
  /** The id of the account's agent. It is disabled, so that only people change handlers. */
  readonly agent: string;
  readonly storage: StoragePort;
  readonly reads: () => Reads;
  /** Each person's contact, once it exists. */
  readonly contacts: (string | undefined)[];
  count: number;
}

/** The model that all steps share. A race replaces it by the outcome that occurred. */
export interface State {
  model: Model;
}

/** The ids of a person's conversations, in order of start. */
async function idsOf({ accounts: [account], contacts }: World, person: number): Promise<string[]> {
  const contact_id = contacts[person];
  if (contact_id === undefined) return [];
  return (await account.conversations.list({ contact_id, limit: 100 })).data
    .map(({ id }) => id)
    .toReversed();
}

async function make(
  world: World,
  engine: number,
  change: Change,
  id: string | undefined,
): Promise<string> {
  const account = world.accounts[engine % 2] ?? world.accounts[0];
  const { conversations: own } = account;
  const { medium, address } = people[change.person] ?? expect.fail("nobody");
  const to = world.contacts[change.person] ?? address;
  switch (change.kind) {
    case "inbound": {
      const provider_message_id = `in ${world.count++}`;
      const channel = medium === "text" ? "sms" : "webchat";
      const inbound = {
        provider_message_id,
        channel,
        from: address,
        body: change.body,
        media: [],
        at: 0,
      } as const;
      const line = medium === "text" ? "+15005559999" : lobby;
      return outcome(
        (world.lines[engine % 2] ?? world.lines[0])
          .sink()
          .inbound({ ...inbound, to: line }, account.scope.account_id),
      );
    }
    case "send":
      return outcome(
        account.messages.send({
          to,
          body: change.body,
          ...(medium === "text" ? {} : { channel: medium }),
        }),
      );
    case "open":
      return outcome(own.open({ to, medium }));
    default:
      break;
  }
  const at = id ?? expect.fail("no conversation");
  switch (change.kind) {
    case "reply":
      return outcome(own.reply(at, { body: change.body }));
    case "status":
      return outcome(own.update(at, { status: change.status }));
    case "snooze": {
      const snoozed_until = new Date(world.clock.now() + change.ms).toISOString();
      return outcome(own.update(at, { status: "snoozed", snoozed_until }));
    }
    case "assign":
      return outcome(
        own.assign(
          at,
          change.assignee?.type === "agent" ? { type: "agent", id: world.agent } : change.assignee,
        ),
      );
    case "labels":
      return outcome(own.setLabels(at, change.labels));
    case "read":
      return outcome(own.markRead(at));
    case "unread":
      return outcome(own.markUnread(at));
    case "handOff":
      return outcome(own.handOff(at, { reason: "asked for it" }));
    case "handBack":
      return outcome(own.handBack(at));
  }
}

/** The visible state of all conversations. */
async function readState(world: World): Promise<Model> {
  const [account] = world.accounts;
  const range = {
    index: agentSessions.primary,
    prefix: [],
    order: "ascending",
    limit: 1_000,
  } as const;
  const heardThrough = new Map<string, number>(
    (await world.reads().range(range)).map((each) => [each.conversation_id, each.heard_through]),
  );
  return Promise.all(
    people.map(async (_, person) =>
      Promise.all(
        (await idsOf(world, person)).map(async (id): Promise<ModelConversation> => {
          const [shown, thread] = await Promise.all([
            account.conversations.get(id),
            account.conversations.messages(id, { limit: 100 }),
          ]);
          const { status, handler, assignee, labels, snoozed_until, closed_at, unread_count } =
            shown;
          const { waiting_since } = shown;
          expect(shown.message_count, "A conversation counts each of its messages once.").toBe(
            thread.data.length,
          );
          expect(shown.last_message?.id, "A conversation shows its newest message.").toBe(
            thread.data[0]?.id,
          );
          expect(shown.last_message?.status, "It shows the status of that message.").toBe(
            thread.data[0]?.status,
          );
          return {
            status,
            handler,
            assignee: assignee?.id === world.agent ? theAgent : assignee,
            labels,
            snoozed_until: snoozed_until === null ? null : Date.parse(snoozed_until),
            closed_at: closed_at === null ? null : Date.parse(closed_at),
            unread_count,
            waiting_since: waiting_since === null ? null : Date.parse(waiting_since),
            unanswered_since: unansweredSince(thread.data.toReversed(), heardThrough.get(id) ?? 0),
            hasAgent: heardThrough.has(id),
            bodies: thread.data.map(({ body }) => body ?? "").toReversed(),
          };
        }),
      ),
    ),
  );
}

/** When the first message that nobody has answered was written. `thread` is oldest first. */
function unansweredSince(thread: readonly Message[], heardThrough: number): number | null {
  const answered = 1 + thread.findLastIndex(({ direction }) => direction === "outbound");
  const first = thread[Math.max(answered, heardThrough)];
  return first === undefined ? null : Date.parse(first.created_at);
}

/** Invariants of the stored rows. */
export async function checkRows(reads: Reads): Promise<void> {
  const all = { prefix: [], order: "ascending", limit: 10_000 } as const;
  const rows = await reads.range<ConversationRow>({ ...all, index: conversations.primary });
  const current = rows
    .filter((row) => row.current === true)
    .map((row) => `${row.contact_id} ${row.medium}`);
  expect(new Set(current).size, "A contact has at most one current conversation on a medium.").toBe(
    current.length,
  );
  for (const row of rows) {
    if (row.current === null) {
      expect(row.status, `Conversation ${row.id} is closed, because it is not current.`).toBe(
        "closed",
      );
    }
    expect([row.unread, row.snoozed_until !== null, row.closed_at !== null]).toEqual([
      row.unread_count > 0 ? true : null,
      row.status === "snoozed",
      row.status === "closed",
    ]);
    const thread = await reads.range({ ...all, index: messagesOfConversation, prefix: [row.id] });
    const isWritten = thread.some(({ direction }) => direction === "inbound");
    const isHeld = row.handler === "ai" || row.assignee_type === "human" || row.status === "closed";
    const isNotice = row.handler === "none" && !isWritten;
    expect(row.unassigned, `Conversation ${row.id} is unassigned if nobody has it.`).toBe(
      isHeld || isNotice ? null : true,
    );
    expect(
      { ai: ["agent"], human: ["human", null], queue: ["agent", null], none: [null] }[row.handler],
      `Conversation ${row.id} is assigned to its handler, or to the agent that it can return to.`,
    ).toContain(row.assignee_type);
    expect(
      [row.waiting_since === null, row.handler === "queue" && row.status !== "closed"],
      `Conversation ${row.id} names what its contact waits for.`,
    ).toEqual([row.waiting_for === null, row.waiting_for === "handoff"]);
    expect(
      thread.map(({ sequence }) => sequence),
      `The messages of conversation ${row.id} are numbered from 1 without a gap.`,
    ).toEqual(thread.map((_, i) => i + 1));
    expect(thread.length, `Conversation ${row.id} counts each of its messages once.`).toBe(
      row.message_count,
    );
  }
  const labelled = await reads.range<ConversationLabelRow>({
    ...all,
    index: conversationLabels.primary,
  });
  const told = labelled.map((row) =>
    [row.conversation_id, row.label, row.status, row.last_activity_at].join("|"),
  );
  const due = rows.flatMap((row) =>
    row.labels.map((label) => [row.id, label, row.status, row.last_activity_at].join("|")),
  );
  expect(told.toSorted(), "The index of labels agrees with the conversations.").toEqual(
    due.toSorted(),
  );
}

interface Outcome {
  readonly model: Model;
  readonly answers: readonly string[];
}

interface Step {
  readonly change: Change;
  readonly target: number;
}

/** The outcomes of all orders of the changes and the clock. */
function outcomes(model: Model, steps: readonly Step[], now: number, end: number): Outcome[] {
  const found: Outcome[] = [];
  const go = (
    at: Model,
    left: ReadonlySet<number>,
    passed: boolean,
    answers: readonly string[],
  ): void => {
    if (left.size === 0 && passed) {
      pass(at, end);
      found.push({ model: at, answers });
    }
    if (!passed) {
      const next = structuredClone(at);
      pass(next, now);
      go(next, left, true, answers);
    }
    for (const i of left) {
      const step = steps[i] ?? expect.fail("no such step");
      const next = structuredClone(at);
      const answer = apply(next, step.change, step.target, now);
      go(next, new Set([...left].filter((each) => each !== i)), passed, answers.with(i, answer));
    }
  };
  go(
    model,
    new Set(steps.keys()),
    false,
    steps.map(() => ""),
  );
  return found;
}

type Command = fc.AsyncCommand<State, World>;

/** One or more concurrent changes, each on one of the engines. */
export function atOnce(
  changes: readonly Change[],
  wait: number | "until the snooze ends",
): Command {
  return {
    check: ({ model }) =>
      changes.every((change) =>
        "ago" in change
          ? (model[change.person] ?? []).length > 0
          : change.kind === "inbound" || isKnown(model, change),
      ),
    async run(state, world) {
      const { clock } = world;
      const ends = state.model
        .flat()
        .flatMap((each) => (each.snoozed_until === null ? [] : [each.snoozed_until]));
      const ms =
        wait === "until the snooze ends"
          ? Math.max(0, Math.min(...ends, clock.now() + 600_000) - clock.now())
          : wait;
      const steps = changes.map((change): Step => {
        const all = state.model[change.person] ?? [];
        const each = "ago" in change ? targetOf(all, change.ago) : undefined;
        return { change, target: each === undefined ? -1 : all.indexOf(each) };
      });
      const ids = await Promise.all(
        steps.map(async ({ change, target }) => (await idsOf(world, change.person))[target]),
      );
      // The clock jumps to the end of a snooze without waking sleepers, so that a change races it.
      if (wait === "until the snooze ends") clock.step(ms);
      else await fastForward(clock, world.storage, ms);
      const now = clock.now();
      let over = false;
      const answered = Promise.all(
        steps.map(({ change }, i) => make(world, i, change, ids[i])),
      ).finally(() => {
        over = true;
      });
      await clock.advanceUntil(() => over, 60_000);
      const answers = await answered;
      // The jump did not wake the sleeper that ends the snooze.
      await fastForward(clock, world.storage, ms + 1);
      await learnContacts(world);

      const real = { model: await readState(world), answers };
      const possible = outcomes(state.model, steps, now, clock.now());
      const match = possible.find((each) => JSON.stringify(each) === JSON.stringify(real));
      if (match === undefined) expect(real).toEqual(possible[0]);
      state.model = real.model;
      await checkRows(world.reads());
    },
    toString: () => `${JSON.stringify(changes)} after ${wait}`,
  };
}

/** A visitor must have written before somebody can write to it. */
function isKnown(model: Model, { person }: Change): boolean {
  return people[person]?.medium === "text" || (model[person] ?? []).length > 0;
}

async function learnContacts({ accounts: [account], contacts }: World): Promise<void> {
  const { data } = await account.conversations.list({ limit: 100 });
  for (const { contact, medium, id } of data) {
    const [last] = (await account.conversations.messages(id, { limit: 1 })).data;
    const address = contact.phone ?? (last?.direction === "inbound" ? last.from : last?.to);
    const person = people.findIndex((each) => each.medium === medium && each.address === address);
    if (person >= 0) contacts[person] = contact.id;
  }
}

/** Mostly one person, so that changes meet in one conversation. */
const person = fc.constantFrom(0, 0, 0, 0, 1, 2);
const ago = fc.constantFrom(0, 0, 0, 1);
const body = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "b", "c") });
const assignee = fc.constantFrom<ModelConversation["assignee"]>(
  { type: "human", id: "anna" },
  theAgent,
  theAgent,
  null,
);
const wait = fc.constantFrom(0, 1, 1, 600_000, 3_599_999, 3_600_000);

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constantFrom("inbound", "inbound", "send", "open"), person, body }),
  fc.record({ kind: fc.constant("reply"), person, ago, body }),
  fc.record({
    kind: fc.constant("status"),
    person,
    ago,
    status: fc.constantFrom("open", "closed", "closed"),
  }),
  fc.record({ kind: fc.constant("snooze"), person, ago, ms: fc.constantFrom(1_000, 600_000) }),
  fc.record({ kind: fc.constant("assign"), person, ago, assignee }),
  fc.record({
    kind: fc.constant("labels"),
    person,
    ago,
    labels: fc.subarray(["new", "vip", "late"]),
  }),
  fc.record({ kind: fc.constantFrom("read", "unread"), person, ago }),
  fc.record({ kind: fc.constantFrom("handOff", "handBack", "handBack"), person, ago }),
);

export const conversationCommands = fc.commands<State, World, false>(
  [
    fc.tuple(change, wait).map(([each, ms]) => atOnce([each], ms)),
    fc
      .tuple(
        fc.array(change, { minLength: 2, maxLength: 3 }),
        fc.constantFrom<0 | "until the snooze ends">(0, "until the snooze ends"),
      )
      .map(([changes, ms]) => atOnce(changes, ms)),
  ],
  { size: "large", maxCommands: 25 },
);
