/** What holds of agents' conversations, whatever was done to them, when all has come to rest. */
import { expect } from "vitest";
import type { AccountHandle } from "../../src/host/handles.ts";
import { agentSessions } from "../../src/agents/rows.ts";
import { conversations } from "../../src/conversations/rows.ts";
import { messages, type MessageRow } from "../../src/messages/rows.ts";
import { runs } from "../../src/agents/runs/rows.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { everyEvent } from "../contacts/people.ts";
import { rowsOf } from "../contacts/rows.ts";

/** What actions did in the host's world. */
export type Deeds = {
  readonly name: string;
  readonly idempotency_key: string;
  readonly idempotent: boolean;
}[];

/** What agents have said in an account. */
export async function said(
  storage: StoragePort,
  account_id: string,
): Promise<readonly MessageRow[]> {
  return (await rowsOf(storage, messages, account_id)).filter(
    ({ author_type }) => author_type === "agent",
  );
}

export async function checkRest(
  storage: StoragePort,
  account: AccountHandle,
  deeds: Deeds,
  when: string,
): Promise<void> {
  const { account_id } = account.scope;
  const ran = await rowsOf(storage, runs, account_id);
  const written = await rowsOf(storage, messages, account_id);
  const threads = await rowsOf(storage, conversations, account_id);
  const events = await everyEvent(account);

  // Nothing is left lying.
  for (const { status, open } of ran) {
    expect([when, status, open]).not.toEqual([when, "running", true]);
  }
  for (const { status, open } of ran) {
    if (open !== null) expect.fail(`${when}: a run that is ${status} is open`);
  }

  // Each run is told of once when it has ended.
  const told = events.flatMap(({ type, data }) =>
    type === "agent.run.completed" && "run" in data ? [data.run] : [],
  );
  const ids = told.flatMap((run) => (run === null ? [] : [run.id]));
  expect([when, new Set(ids).size]).toEqual([when, ids.length]);
  for (const { id, status } of ran) {
    expect([when, id, ids.includes(id)]).toEqual([when, id, status !== "awaiting_approval"]);
  }

  // What was answered once is not answered again, and each answer is one message.
  const answering = ran.filter(({ status }) => status !== "failed" && status !== "canceled");
  const answered = answering.flatMap(({ message_ids }) => message_ids);
  expect([when, new Set(answered).size]).toEqual([when, answered.length]);
  const replies = written.filter(({ author_type }) => author_type === "agent");
  // One that waited for an approval has said so.
  const waited = ran.filter(({ resumed, status }) => resumed && status !== "awaiting_approval");
  expect(replies.length, when).toBeLessThanOrEqual(answering.length + waited.length);

  // Whoever wrote has an answer, or wants none any more, or it is with people, or it is over.
  const wanted = written.filter(
    ({ direction, keyword }) => direction === "inbound" && keyword === null,
  );
  for (const { id, sequence, conversation_id } of wanted) {
    const thread = threads.find((each) => each.id === conversation_id);
    const isWithPeople =
      thread?.status === "closed" || thread?.handler === "queue" || thread?.handler === "human";
    const isAnswered = written.some(
      (each) =>
        each.conversation_id === conversation_id &&
        each.author_type === "human" &&
        each.sequence > sequence,
    );
    const isTried = ran.some(
      ({ status, message_ids }) => status === "failed" && message_ids.includes(id),
    );
    const wantsNone = written.some(
      (each) => each.conversation_id === conversation_id && each.keyword === "opt_out",
    );
    const isSettled = answered.includes(id) || isWithPeople || isAnswered || isTried || wantsNone;
    expect([when, id, isSettled]).toEqual([when, id, true]);
  }

  // Each hand-off is told of once.
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

  // No agent talks over people, or to who wants no more.
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

  // What was done outside was done once, or under the same key.
  const once = deeds
    .filter(({ idempotent }) => !idempotent)
    .map(({ idempotency_key }) => idempotency_key);
  expect([when, once.length]).toEqual([when, new Set(once).size]);
  for (const { idempotency_key } of deeds) {
    const doneSo = new Set(
      deeds.flatMap((each) => (each.idempotency_key === idempotency_key ? [each.name] : [])),
    );
    expect([when, doneSo.size]).toEqual([when, 1]);
  }

  // A session is of a conversation that is there.
  for (const { conversation_id } of await rowsOf(storage, agentSessions, account_id)) {
    expect(threads.some(({ id }) => id === conversation_id)).toBe(true);
  }
}
