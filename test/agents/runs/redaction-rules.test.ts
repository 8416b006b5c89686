import { expect, test } from "vitest";
import { maxOpenRuns } from "../../../src/agents/runs/open-runs.ts";
import { mayQuote, playMayQuote, redactedRun } from "../../../src/agents/runs/redaction-rules.ts";
import { maxHistory, maxReadForHistory } from "../../../src/agents/runs/rules.ts";
import type { ActionCall } from "../../../src/agents/runs/types.ts";
import { frame } from "../playbooks/sample-frame.ts";
import { call, step } from "./sample-run.ts";

const now = Date.UTC(2026, 0, 1);

const ended = {
  message_ids: [],
  heard_through: 2_000,
  read_from: null,
  playbook_id: null,
  open: null,
  finished_at: now,
} as const;

test("a run may quote the messages of its histories, also those before the last 30", () => {
  const isQuoted = (run: Parameters<typeof mayQuote>[0], sequence: number): boolean =>
    mayQuote(run, { id: "msg_1", sequence, created_at: now });
  const read = { ...ended, read_from: 700 };
  expect([isQuoted(read, 700), isQuoted(read, 699)]).toEqual([true, false]);
  const running = { ...ended, open: true as const, finished_at: null };
  const first = running.heard_through - maxReadForHistory + 1;
  expect([isQuoted(running, first), isQuoted(running, first - 1)]).toEqual([true, false]);
  const isQuotedAfterMoves = (sequence: number): boolean =>
    mayQuote(running, { id: "msg_1", sequence, created_at: now }, 3);
  expect(
    [isQuotedAfterMoves(first - 3), isQuotedAfterMoves(first - 4)],
    "Each move left a number unused, so its history goes back further.",
  ).toEqual([true, false]);
  const triggered = { ...ended, heard_through: 0, read_from: 1_990 };
  expect(isQuoted(triggered, 1), "What triggered it may quote any message.").toBe(true);
});

test("a run may quote the messages that it answers, and the last 30 before it ended", () => {
  const run = { ...ended, heard_through: 100 };
  const message = { id: "msg_1", sequence: 100, created_at: now } as const;
  const quotes = (differs: { readonly sequence?: number; readonly created_at?: number }): boolean =>
    mayQuote(run, { ...message, ...differs });
  expect(maxHistory).toBe(30);
  expect(maxOpenRuns).toBe(50);
  expect(quotes({}), "It read the message.").toBe(true);
  expect(quotes({ sequence: 71 }), "It read the last 30.").toBe(true);
  expect(quotes({ sequence: 70 }), "It did not read the one before.").toBe(false);
  expect(quotes({ sequence: 101 }), "It may have read a later one.").toBe(true);
  expect(quotes({ created_at: now + 1 }), "It had ended.").toBe(false);
  const later = { ...message, created_at: now + 1 };
  expect(mayQuote({ ...run, finished_at: null }, later), "It has not ended.").toBe(true);
  const early = { ...message, sequence: 1 };
  const answers = { ...run, message_ids: ["msg_0" as const, early.id] };
  expect(mayQuote(answers, early), "It answers the message.").toBe(true);
});

test("a run of a playbook may quote all messages before it ended", () => {
  const playbook_id = "pb_1" as const;
  const run = { ...ended, playbook_id };
  const message = { id: "msg_1", sequence: 1, created_at: now } as const;
  expect(mayQuote(run, message), "A slot may have the words.").toBe(true);
  const later = { ...message, created_at: now + 1 };
  expect(mayQuote(run, later), "It had ended.").toBe(false);
  expect(mayQuote({ ...run, finished_at: null }, later), "It has not ended.").toBe(true);
});

test("a playbook in progress may quote all messages before its last turn", () => {
  const session = { frames: [frame], updated_at: now };
  const message = { created_at: now };
  expect(playMayQuote(session, message), "It may have answered the message.").toBe(true);
  expect(playMayQuote(session, { created_at: now + 1 }), "It had no turn since.").toBe(false);
  expect(playMayQuote({ ...session, frames: [] }, message), "None is in progress.").toBe(false);
});

test("a redacted run keeps what was done and when, without the words", () => {
  const done: ActionCall = { ...call, status: "failed", output: "text", error: "text" };
  expect(redactedRun({ steps: [step], calls: [done] })).toEqual({
    steps: [{ ...step, input: null, output: null, error: null }],
    calls: [{ ...done, input: null, output: null, error: null, redacted: true }],
    result: null,
  });
});
