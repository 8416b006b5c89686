/** Invariants of agents' conversations once all work is done. */
import { expect } from "vitest";
import type { AccountHandle } from "../../../src/host/handles/handles.ts";
import { agentSessions } from "../../../src/agents/rows.ts";
import { conversations } from "../../../src/conversations/rows.ts";
import { messages, type MessageRow } from "../../../src/messages/rows.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { everyEvent } from "../../contacts/helpers.ts";
import { rowsOf } from "../../contacts/rows.ts";

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
  return (await rowsOf(storage, messages, account_id)).filter(
    ({ author_type }) => author_type === "agent",
  );
}

export async function checkInvariants(
  storage: StoragePort,
  account: AccountHandle,
  actionCalls: ActionCalls,
  when: string,
): Promise<void> {
  const { account_id } = account.scope;
  const ran = await rowsOf(storage, runs, account_id);
  const written = await rowsOf(storage, messages, account_id);
  const threads = await rowsOf(storage, conversations, account_id);
  const events = await everyEvent(account);

  // No run is still running.
  for (const { status, open } of ran) {
    expect([when, status, open]).not.toEqual([when, "running", true]);
  }
  for (const { status, open } of ran) {
    if (open !== null) expect.fail(`${when}: a run that is ${status} is open`);
  }

  // A run that has come to its end knows the outcome of each call.
  for (const { status, calls } of ran) {
    const isDone = status === "completed" || status === "handed_off";
    const pending = calls.filter((call) => isDone && call.status === "pending");
    expect([when, pending]).toEqual([when, []]);
  }

  // Nobody can decide about a call of a run that has ended.
  for (const { status, finished_at, calls } of ran) {
    const waits = calls.some((call) => call.status === "awaiting_approval");
    expect([when, status, waits && finished_at !== null]).toEqual([when, status, false]);
  }

  // A call that was done is a step of its run.
  for (const { calls, steps } of ran) {
    const done = calls.flatMap(({ action, status }) => (status === "done" ? [action] : []));
    const named = steps.flatMap(({ type, name }) => (type === "action" ? [name] : []));
    expect([when, named]).toEqual([when, expect.arrayContaining(done)]);
  }

  // Each ended run has exactly one completion event.
  const told = events.flatMap(({ type, data }) =>
    type === "agent.run.completed" && "run" in data ? [data.run] : [],
  );
  const ids = told.flatMap((run) => (run === null ? [] : [run.id]));
  expect([when, new Set(ids).size]).toEqual([when, ids.length]);
  for (const { id, status } of ran) {
    expect([when, id, ids.includes(id)]).toEqual([when, id, status !== "awaiting_approval"]);
  }

  // Each decision about a call is a step of its run, and exactly one event reports it. An erasure
  // removes runs and leaves events.
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
  expect([when, sorted(reported)]).toEqual([when, sorted(decided)]);

  // Each message is answered at most once, with one message.
  const answering = ran.filter(({ status }) => status !== "failed" && status !== "canceled");
  const answered = answering.flatMap(({ message_ids }) => message_ids);
  expect([when, new Set(answered).size]).toEqual([when, answered.length]);
  const replies = written.filter(({ author_type }) => author_type === "agent");
  // Each message of an agent is named by the run that sent it.
  const named = ran.flatMap(({ sent_message_ids }) => sent_message_ids);
  expect([when, named.toSorted()]).toEqual([when, replies.map(({ id }) => id).toSorted()]);
  // A run that waited for an approval may have sent one notice.
  const waited = ran.filter(({ resumed, status }) => resumed && status !== "awaiting_approval");
  expect(replies.length, when).toBeLessThanOrEqual(answering.length + waited.length);

  // Each inbound message is answered, or opted out, or with people, or in a closed conversation.
  const wanted = written.filter(
    ({ direction, keyword }) => direction === "inbound" && keyword === null,
  );
  for (const { id, sequence, conversation_id } of wanted) {
    const thread = threads.find((each) => each.id === conversation_id);
    const isWithPeople =
      thread?.status === "closed" ||
      thread?.handler === "queue" ||
      thread?.handler === "human" ||
      thread?.waiting_for === "reply";
    const isAnswered = written.some(
      (each) =>
        each.conversation_id === conversation_id &&
        each.author_type === "human" &&
        each.sequence > sequence,
    );
    // A run that was canceled while it waited for an approval had already sent a reply.
    const isTried = ran.some(
      ({ status, message_ids, sent_message_ids }) =>
        (status === "failed" || sent_message_ids.length > 0) && message_ids.includes(id),
    );
    const wantsNone = written.some(
      (each) => each.conversation_id === conversation_id && each.keyword === "opt_out",
    );
    const isSettled = answered.includes(id) || isWithPeople || isAnswered || isTried || wantsNone;
    expect([when, id, isSettled]).toEqual([when, id, true]);
  }

  // Each hand-off has exactly one event.
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
    expect([when, handed.length]).toEqual([when, queued.length]);
  }

  // No agent writes to a contact that has opted out.
  for (const thread of threads) {
    const own = written.filter(({ conversation_id }) => conversation_id === thread.id);
    const [stop = Infinity] = own.flatMap(({ keyword, sequence }) =>
      keyword === "opt_out" ? [sequence] : [],
    );
    expect([
      when,
      own.filter((each) => each.author_type === "agent" && each.sequence > stop),
    ]).toEqual([when, []]);
  }

  // Actions that are not idempotent ran once; a key belongs to one action.
  const once = actionCalls
    .filter(({ idempotent }) => !idempotent)
    .map(({ idempotency_key }) => idempotency_key);
  expect([when, once.length]).toEqual([when, new Set(once).size]);
  for (const { idempotency_key } of actionCalls) {
    const doneSo = new Set(
      actionCalls.flatMap((each) => (each.idempotency_key === idempotency_key ? [each.name] : [])),
    );
    expect([when, doneSo.size]).toEqual([when, 1]);
  }

  // Each session belongs to an existing conversation.
  for (const { conversation_id } of await rowsOf(storage, agentSessions, account_id)) {
    expect(threads.some(({ id }) => id === conversation_id)).toBe(true);
  }
}
