/** Interruptions of a turn at each commit, model call and action call: by people and by crashes. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../../adapters/testing/world/ports/shared-storage.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import type { Action } from "../../../src/host/actions.ts";
import type { AccountHandle } from "../../../src/host/handles/handles.ts";
import { TidingsError } from "../../../src/kernel/errors.ts";
import type { AgentModel } from "../../../src/ports/agent-model.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { stopped, world } from "../../support/engines/world.ts";
import { outcome } from "../../support/outcome.ts";
import { over } from "../../support/over.ts";
import { cases, isLong, pointsApart } from "../../support/runs.ts";
import { tablesWith } from "../../support/storage/rows.ts";
import { storages, type Ground } from "../../support/storage/storages.ts";
import { actionOf } from "../actions.ts";
import { checkInvariants, said, type ActionCalls } from "./invariants.ts";

const ann = "+15005550101";
const bob = "+15005550102";
/** Occurs in messages, replies and action inputs. */
const word = "kumquat";

interface Thread {
  readonly account: AccountHandle;
  readonly agent_id: string;
  readonly contact_id: string;
  readonly conversation_id: string;
}

interface Act {
  do(thread: Thread): Promise<unknown>;
  /** The agent sends nothing after this. */
  readonly silences: boolean;
}

const acts = {
  "a person answers": {
    do: ({ account, conversation_id }) =>
      account.conversations.reply(conversation_id, { body: "This is Eve." }),
    silences: true,
  },
  "the contact opts out": {
    do: ({ account }) => account.sandbox.inbound({ from: ann, body: "STOP" }),
    silences: true,
  },
  "the contact writes again": {
    do: ({ account }) => account.sandbox.inbound({ from: ann, body: "one kumquat more" }),
    silences: false,
  },
  "the conversation is handed off": {
    do: ({ account, conversation_id }) =>
      account.conversations.handOff(conversation_id, { reason: "I know better" }),
    silences: true,
  },
  "the conversation is assigned to a person": {
    do: ({ account, conversation_id }) =>
      account.conversations.assign(conversation_id, { type: "human", id: "eve" }),
    silences: true,
  },
  "the conversation is assigned to nobody": {
    do: ({ account, conversation_id }) => account.conversations.assign(conversation_id, null),
    silences: true,
  },
  "the conversation is assigned to another agent and back": {
    async do({ account, conversation_id, agent_id }) {
      const { id } = await account.agents.create({ name: "Bea", channels: ["sms"] });
      await account.conversations.assign(conversation_id, { type: "agent", id });
      await account.conversations.assign(conversation_id, { type: "agent", id: agent_id });
    },
    silences: false,
  },
  "a person answers and hands back": {
    async do({ account, conversation_id }) {
      await account.conversations.reply(conversation_id, { body: "This is Eve." });
      await account.conversations.handBack(conversation_id);
    },
    silences: true,
  },
  "the conversation is handed off and back": {
    async do({ account, conversation_id }) {
      await account.conversations.handOff(conversation_id, { reason: "I know better" });
      await account.conversations.handBack(conversation_id);
    },
    silences: false,
  },
  "the conversation is closed": {
    do: ({ account, conversation_id }) =>
      account.conversations.update(conversation_id, { status: "closed" }),
    silences: true,
  },
  "the conversation is closed and opened again": {
    async do({ account, conversation_id }) {
      await account.conversations.update(conversation_id, { status: "closed" });
      await account.conversations.update(conversation_id, { status: "open" });
    },
    silences: false,
  },
  "an action is triggered": {
    do: ({ account, conversation_id, agent_id }) =>
      account.agents.trigger(agent_id, { conversation_id, action: "book", input: { what: word } }),
    silences: false,
  },
  "a playbook is triggered": {
    async do({ account, conversation_id, agent_id }) {
      const steps = [
        { id: "book", type: "run", action: "book", args: { what: "a {{size}} one" } },
        { id: "ask", type: "ask", slot: "size" },
        { id: "done", type: "send", text: "It is booked." },
      ] as const;
      const slots = [{ name: "size", type: "text", required: true, prompt: "Size?" }] as const;
      const book = { name: "Book", enabled: true, slots: [...slots], steps: [...steps] };
      const { id: playbook_id } = await account.playbooks.create(book);
      await account.agents.trigger(agent_id, { conversation_id, playbook_id });
    },
    silences: false,
  },
  "the agent is disabled": {
    do: ({ account, agent_id }) => account.agents.update(agent_id, { enabled: false }),
    silences: true,
  },
  "the agent is removed": {
    do: ({ account, agent_id }) => account.agents.remove(agent_id),
    silences: true,
  },
  "the agent is edited": {
    do: ({ account, agent_id }) =>
      account.agents.update(agent_id, { actions: [], reply: { signature: "Later" } }),
    silences: false,
  },
  "the contact is erased": {
    do: ({ account, contact_id }) => account.contacts.erase(contact_id),
    silences: true,
  },
  "the contact is merged into another": {
    async do({ account, contact_id }) {
      const { data } = await account.contacts.list({ phone: bob });
      await account.contacts.merge(data[0]?.id ?? "", contact_id);
    },
    silences: false,
  },
} as const satisfies Record<string, Act>;

/** Runs something at the n-th point of a turn: around commits, model calls and actions. */
interface Interruptible {
  readonly storage: StoragePort;
  readonly pass: () => Promise<void>;
  /** Disconnects the storage. */
  cut(): void;
  at(point: number, what: () => Promise<void>): void;
}

function interruptible(storage: StoragePort): Interruptible {
  let isCut = false;
  let left = Infinity;
  let happen = async (): Promise<void> => {};
  const pass = async (): Promise<void> => {
    if (left-- === 0) await happen();
  };
  const check = (): void => {
    if (isCut) throw new TidingsError("storage_unavailable", "The process is dead.");
  };
  const begin: StoragePort["begin"] = (how) => {
    const group = storage.begin(how);
    let locks = false;
    return {
      read(lookups) {
        check();
        locks ||= lookups.some(({ lock }) => lock === true);
        return group.read(lookups);
      },
      abort: () => group.abort(),
      async commit(writes) {
        // Groups that lock rows and exclusive ones keep others out, so no point lies before them.
        if (how !== "exclusive" && !locks) await pass();
        check();
        await group.commit(writes);
        await pass();
        check();
      },
    };
  };
  return {
    storage: over(storage, { begin }),
    pass,
    cut() {
      isCut = true;
    },
    at(point, what) {
      left = point;
      happen = what;
    },
  };
}

let requests = 0;

/**
 * Calls each action once, and then replies. It does not retry a failed action. It words each
 * request differently, as a language model may.
 */
const busy: AgentModel["respond"] = ({ calls, messages, actions }) => {
  const next = actions.find(({ name }) => !calls.some((call) => call.action === name))?.name;
  return next === undefined
    ? {
        text: `Booked: ${messages.at(-1)?.text}.`,
        observations: [{ content: `likes a ${word}`, kind: "taste" }],
      }
    : {
        calls: [{ action: next, input: { what: `${word} ${requests++}` } }],
        usage: { input_tokens: 10, output_tokens: 10 },
      };
};

function busyAgents(actionCalls: ActionCalls, pass: () => Promise<void>) {
  const input = z.strictObject({ what: z.string() });
  const deed = (name: string, risk: Action["risk"], idempotent: boolean) =>
    actionOf({
      name,
      input,
      risk,
      idempotent,
      async execute(_, { idempotency_key }) {
        await pass();
        actionCalls.push({ name, idempotency_key, idempotent: idempotent || risk === "read" });
        await pass();
        return { done: word };
      },
    });
  const actions = [
    deed("look", "read", true),
    deed("note", "write", true),
    deed("book", "write", false),
    deed("pay", "approval", false),
  ];
  return {
    actions,
    async model(...given: Parameters<AgentModel["respond"]>) {
      await pass();
      const answer = await busy(...given);
      await pass();
      return answer;
    },
  };
}

/** The actions of an agent in each kind of turn. */
const actionsOfTurn = { all: ["look", "note", "book"], approved: ["look", "pay"] } as const;

async function begun(
  account: AccountHandle,
  actions: readonly string[] = actionsOfTurn.all,
): Promise<Thread> {
  const agent = await account.agents.create({
    name: "Ada",
    channels: ["sms"],
    actions: [...actions],
    reply: { debounce_ms: 0 },
    handoff: { rules: [] },
  });
  const { contact_id, conversation_id } = await account.sandbox.inbound({
    from: ann,
    body: `a ${word} please`,
  });
  return { account, agent_id: agent.id, contact_id, conversation_id };
}

/** Longer than a turn and its follow-up jobs. */
const aWhile = 12_000;
/** Longer than a turn's lease, so that another engine takes over. */
const pastLease = 90_000;
/** The maximum number of points in one turn. */
const maxPoints = 60;

/** Whether the turn's run has ended. */
async function isOver({ account, agent_id }: Thread): Promise<boolean> {
  const { data } = await account.agents
    .runs(agent_id)
    .catch(() => ({ data: [{ status: "gone" }] }));
  return data.length > 0 && data.every(({ status }) => status !== "running");
}

/** Approves the action that the turn asked for. */
async function approve({ account, agent_id }: Thread): Promise<void> {
  const { data } = await account.agents.runs(agent_id);
  await account.agents.approve(agent_id, data[0]?.id ?? "", { decision: "approve" });
}

const newTurn = { turn: "a turn", actions: actionsOfTurn.all, least: 15 };
const resumedTurn = {
  turn: "a turn that resumes after an approval",
  actions: actionsOfTurn.approved,
  least: 9,
};
const mostDifferent: ReadonlySet<string> = new Set<keyof typeof acts>([
  "a person answers",
  "the contact opts out",
  "the contact writes again",
  "a playbook is triggered",
  "the agent is edited",
  "the contact is erased",
]);
const actsInTurns = cases(Object.entries<Act>(acts), ([name]) => mostDifferent.has(name));
const inResumedTurns: ReadonlySet<string> = new Set<keyof typeof acts>([
  "the contact writes again",
  "the contact is erased",
]);
const actsInResumedTurns = cases(Object.keys(acts), (name) => inResumedTurns.has(name));

describe.each(actsInTurns)("during a turn, %s", (name, { do: happen, silences }) => {
  // Where not all points are tried, the acts differ in which ones are.
  const firstPoint = actsInTurns.findIndex(([each]) => each === name);
  test.each(actsInResumedTurns.includes(name) ? [newTurn, resumedTurn] : [newTurn])(
    "$turn keeps all invariants, whenever that happens",
    async ({ actions, least }) => {
      const isApproved = actions === actionsOfTurn.approved;
      // The approval still counts if the person who gave it hands back.
      const isSilenced = silences && !(isApproved && name === "a person answers and hands back");
      const { clock, engine } = world();
      const ground = new SharedStorage(memory());
      const connect = (): StoragePort => ground.connect();
      const storage = connect();
      const { storage: own, at, pass } = interruptible(connect());
      const actionCalls: ActionCalls = [];
      const one = engine(own, { agents: busyAgents(actionCalls, pass) });
      const two = engine(storage, { agents: busyAgents(actionCalls, async () => {}) });
      await one.start();
      let reached = 0;
      let wasOver = false;
      const apart = pointsApart(3);
      for (let point = firstPoint % apart; !wasOver && point < maxPoints; point += apart) {
        const { account: made } = await two.accounts.create({ name: "moments" });
        const account = two.account(made.id);
        await one.account(made.id).get();
        if (name === "the contact is merged into another") {
          await account.contacts.create({ phone: bob });
        }
        at(Infinity, async () => {});
        let saidBefore: number | undefined;
        actionCalls.length = 0;
        const thread = await begun(account, actions);
        if (isApproved) await clock.advance(aWhile);
        at(point, async () => {
          wasOver = await isOver(thread);
          expect([point, await outcome(happen(thread))]).toEqual([point, "done"]);
          saidBefore = (await said(storage, made.id)).length;
          reached = point + 1;
        });
        if (isApproved) await approve(thread);
        await clock.advance(aWhile);
        const after = await said(storage, made.id);
        if (isSilenced) expect([point, after.length]).toEqual([point, saidBefore]);
        await checkInvariants(storage, account, actionCalls, `point ${point}`);
        if (name === "the contact is erased") {
          expect([point, await tablesWith(storage, [word, ann], made.id)]).toEqual([point, []]);
        }
      }
      expect(reached).toBeGreaterThan(least);
      expect(wasOver).toBe(true);
    },
  );
});

/** Returns how many times an action was called, without repetitions under the same key. */
function keysOf(name: string, actionCalls: ActionCalls): number {
  const own = actionCalls.filter((call) => call.name === name);
  return new Set(own.map(({ idempotency_key }) => idempotency_key)).size;
}

/** What happens to the process that runs the turn. */
type End = (turn: Interruptible, engine: MessagingEngine, wakes: Promise<void>) => Promise<void>;
const ends = {
  dies: ({ cut }) => {
    cut();
    return Promise.resolve();
  },
  "is stopped without a deadline": (_, engine) => {
    void engine.stop({ deadlineMs: 0 });
    return Promise.resolve();
  },
  "stalls until another process has finished the turn": (_, __, wakes) => wakes,
} as const satisfies Record<string, End>;

const [, sqlite, postgres] = storages;
/** Slow storages and fault kinds test fewer points. */
const grounds: readonly (readonly [keyof typeof ends, string, () => Ground, number])[] = [
  ["dies", "memory", lateGround, 1],
  ["is stopped without a deadline", "memory", lateGround, 2],
  ["stalls until another process has finished the turn", "memory", lateGround, 2],
  ["dies", "SQLite", () => sqlite?.open() ?? expect.fail(), 9],
  ["dies", "PostgreSQL", () => postgres?.open() ?? expect.fail(), 10],
];

function lateGround(): Ground {
  const ground = new SharedStorage(memory());
  return { connect: () => ground.connect() };
}

const groundsHere = cases(grounds, ([, on]) => on === "memory");

describe.each(groundsHere)("a process that %s, on %s", (way, _, open, every) => {
  test("leaves its turn to another process, whenever that happens", async () => {
    const apart = isLong ? every : 3;
    const first = isLong ? 0 : groundsHere.findIndex(([each]) => each === way) % apart;
    let reached = first;
    let last = 0;
    for (let point = first; reached === point && point < maxPoints; point += apart) {
      const { clock, engine, started } = world();
      const ground = open();
      const storage = ground.connect();
      const turn = interruptible(ground.connect());
      const actionCalls: ActionCalls = [];
      const two = engine(storage, { agents: busyAgents(actionCalls, async () => {}) });
      const { account: made } = await two.accounts.create({ name: "moments" });
      const one = await started(turn.storage, { agents: busyAgents(actionCalls, turn.pass) });
      await one.account(made.id).get();
      const account = two.account(made.id);
      const thread = await begun(account);
      const { promise: wakes, resolve: wake } = Promise.withResolvers<void>();
      turn.at(point, async () => {
        if (!(await isOver(thread))) [reached, last] = [point + apart, point];
        await ends[way](turn, one, wakes);
      });
      await clock.advance(aWhile);
      await two.start();
      await clock.advance(pastLease);
      wake();
      await clock.advance(aWhile);
      turn.cut();
      await checkInvariants(storage, account, actionCalls, `point ${point}`);
      expect([point, (await said(storage, made.id)).length]).toEqual([point, 1]);
      for (const write of ["note", "book"]) {
        expect(keysOf(write, actionCalls), `point ${point}: ${write}`).toBeLessThanOrEqual(1);
      }
      await Promise.all([stopped(two, clock), stopped(one, clock)]);
    }
    expect(last).toBeGreaterThanOrEqual(15);
  });
});
