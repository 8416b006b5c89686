/** Invariants of agents' conversations once all work is done. */
import { expect } from "vitest";
import { agentSessions, type AgentSessionRow } from "../../../src/agents/rows.ts";
import { runs, type RunRow } from "../../../src/agents/runs/rows.ts";
import { conversations, type ConversationRow } from "../../../src/conversations/rows.ts";
import type { AccountHandle } from "../../../src/host/handles/handles.ts";
import { messages, type MessageRow } from "../../../src/messages/rows.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import type { Event } from "../../../src/webhooks/event-catalog.ts";
import { everyEvent } from "../../support/pages.ts";
import { rowsOf } from "../../support/storage/rows.ts";

/** Calls of actions, as the host application saw them. */
export type ActionCalls = {
  readonly name: string;
  readonly idempotency_key: string;
  readonly idempotent: boolean;
}[];

/** All messages of agents in an account. */
export async function said(
  storage: StoragePort,
  account_id: string,
): Promise<readonly MessageRow[]> {
  return (await rowsOf(storage, messages, account_id)).filter(isByAgent);
}

/** What an account holds once all work is done. */
interface Facts {
  readonly ran: readonly RunRow[];
  readonly written: readonly MessageRow[];
  readonly threads: readonly ConversationRow[];
  readonly sessions: readonly AgentSessionRow[];
  readonly events: readonly Event[];
  readonly actionCalls: ActionCalls;
}

const invariants: Readonly<Record<string, (facts: Facts) => void>> = {
  "no run is open": ({ ran }) => {
    for (const { status, open } of ran) expect([status, open]).toEqual([status, null]);
  },

  "a run that has come to its end knows the outcome of each call": ({ ran }) => {
    for (const { status, calls } of ran) {
      if (status !== "completed" && status !== "handed_off") continue;
      const isOpen = ({ status }: RunRow["calls"][number]): boolean =>
        status === "pending" || status === "approved";
      expect(calls.filter(isOpen)).toEqual([]);
    }
  },

  "nobody can decide about a call of a run that has ended": ({ ran }) => {
    for (const { finished_at, calls } of ran) {
      if (finished_at === null) continue;
      expect(calls.filter(({ status }) => status === "awaiting_approval")).toEqual([]);
    }
  },

  "a call that was done is a step of its run": ({ ran }) => {
    for (const { calls, steps } of ran) {
      const done = calls.flatMap(({ action, status }) => (status === "done" ? [action] : []));
      const named = steps.flatMap(({ type, name }) => (type === "action" ? [name] : []));
      expect(named).toEqual(expect.arrayContaining(done));
    }
  },

  "each ended run has exactly one completion event": ({ ran, events }) => {
    const told = events.flatMap(({ type, data }) =>
      type === "agent.run.completed" && "run" in data && data.run !== null ? [data.run.id] : [],
    );
    expect(new Set(told).size).toBe(told.length);
    for (const { id, status } of ran) {
      expect([id, told.includes(id)]).toEqual([id, status !== "awaiting_approval"]);
    }
  },

  "each decision about a call is a step of its run, and one event reports it": ({
    ran,
    events,
  }) => {
    // An erasure removes runs and leaves events.
    const isKept = (run_id: string): boolean => ran.some(({ id }) => id === run_id);
    const decided = ran.flatMap(({ steps }) =>
      steps.flatMap(({ type, input, output }) => (type === "approval" ? [[input, output]] : [])),
    );
    const reported = events.flatMap(({ type, data }) =>
      type === "agent.run.approval_decided" && "decision" in data && isKept(data.run_id)
        ? [[{ call_id: data.call_id, author_id: data.author_id }, data.decision]]
        : [],
    );
    const sorted = (all: readonly unknown[]) => all.map((each) => JSON.stringify(each)).toSorted();
    expect(sorted(reported)).toEqual(sorted(decided));
  },

  "each message is answered at most once, with one message": ({ ran, written }) => {
    const answering = ran.filter(isAnswering);
    const answered = answering.flatMap(({ message_ids }) => message_ids);
    expect(new Set(answered).size).toBe(answered.length);
    // A run that waited for an approval may have sent one notice.
    const waited = ran.filter(({ resumed, status }) => resumed && status !== "awaiting_approval");
    const replies = written.filter(isByAgent);
    expect(replies.length).toBeLessThanOrEqual(answering.length + waited.length);
  },

  "each message of an agent is named by the run that sent it": ({ ran, written }) => {
    const named = ran.flatMap(({ sent_message_ids }) => sent_message_ids);
    const replies = written.filter(isByAgent).map(({ id }) => id);
    expect(named.toSorted()).toEqual(replies.toSorted());
  },

  "each inbound message is answered, or opted out, or with people, or in a closed conversation": (
    facts,
  ) => {
    const wanted = facts.written.filter(
      ({ direction, keyword }) => direction === "inbound" && keyword === null,
    );
    expect(wanted.filter((message) => !isSettled(message, facts))).toEqual([]);
  },

  "each hand-off has exactly one event": ({ threads, events }) => {
    for (const { id } of threads) {
      const handlers = events.flatMap(({ data }) =>
        "conversation" in data && data.conversation.id === id ? [data.conversation.handler] : [],
      );
      const queued = handlers.filter(
        (handler, n) => handler === "queue" && handlers[n - 1] !== "queue",
      );
      const handed = events.filter(
        ({ type, data }) => type === "conversation.handoff" && data.conversation_id === id,
      );
      expect(handed.length).toBe(queued.length);
    }
  },

  "no agent writes to a contact that has opted out": ({ threads, written }) => {
    for (const { id } of threads) {
      const own = written.filter(({ conversation_id }) => conversation_id === id);
      const stop = own.find(({ keyword }) => keyword === "opt_out")?.sequence ?? Infinity;
      expect(own.filter((each) => isByAgent(each) && each.sequence > stop)).toEqual([]);
    }
  },

  "actions that are not idempotent ran once, and a key belongs to one action": ({
    actionCalls,
  }) => {
    const once = actionCalls.flatMap(({ idempotent, idempotency_key }) =>
      idempotent ? [] : [idempotency_key],
    );
    expect(new Set(once).size).toBe(once.length);
    for (const calls of Map.groupBy(actionCalls, (call) => call.idempotency_key).values()) {
      expect(new Set(calls.map(({ name }) => name)).size).toBe(1);
    }
  },

  "each session belongs to an existing conversation": ({ sessions, threads }) => {
    const ids = new Set(threads.map(({ id }) => id));
    expect(sessions.filter(({ conversation_id }) => !ids.has(conversation_id))).toEqual([]);
  },
};

const isByAgent = ({ author_type }: MessageRow): boolean => author_type === "agent";

const isAnswering = ({ status }: RunRow): boolean => status !== "failed" && status !== "canceled";

/** Whether an inbound message needs no answer any more. */
function isSettled(
  { id, sequence, conversation_id }: MessageRow,
  { ran, written, threads }: Facts,
): boolean {
  const thread = threads.find((each) => each.id === conversation_id);
  const isWithPeople =
    thread?.status === "closed" ||
    thread?.handler === "queue" ||
    thread?.handler === "human" ||
    thread?.waiting_for === "reply";
  const others = written.filter((each) => each.conversation_id === conversation_id);
  // A run that was canceled while it waited for an approval had already sent a reply.
  const isTried = ({ status, sent_message_ids }: RunRow): boolean =>
    status !== "canceled" || sent_message_ids.length > 0;
  return (
    isWithPeople ||
    ran.some((run) => run.message_ids.includes(id) && isTried(run)) ||
    others.some((each) => each.author_type === "human" && each.sequence > sequence) ||
    others.some(({ keyword }) => keyword === "opt_out")
  );
}

/** Checks all invariants. `when` says in an error at which point of a test. */
export async function checkInvariants(
  storage: StoragePort,
  account: AccountHandle,
  actionCalls: ActionCalls,
  when: string,
): Promise<void> {
  const { account_id } = account.scope;
  const facts = {
    ran: await rowsOf(storage, runs, account_id),
    written: await rowsOf(storage, messages, account_id),
    threads: await rowsOf(storage, conversations, account_id),
    sessions: await rowsOf(storage, agentSessions, account_id),
    events: await everyEvent(account),
    actionCalls,
  };
  for (const [invariant, check] of Object.entries(invariants)) {
    try {
      check(facts);
    } catch (cause) {
      throw new Error(`${when}: not true: ${invariant}`, { cause });
    }
  }
}
