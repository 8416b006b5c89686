import { expect, test } from "vitest";
import { simulated } from "../../../adapters/testing/index.ts";
import { LiveSignals } from "../../../src/events/streams/live-signals.ts";
import type { Scope } from "../../../src/kernel/ids.ts";
import type { TypingSignal } from "../../../src/operations/signals.ts";

const scope: Scope = { account_id: `acct_${"0".repeat(26)}`, mode: "live" };
const typing = (i: number): TypingSignal => ({
  conversation_id: `conv_${String(i).padStart(26, "0")}`,
  contact_id: `ct_${String(i).padStart(26, "0")}`,
  author: { type: "human" },
  author_name: null,
});

test("a stream that is not read keeps the latest signal of each conversation, 100 at most, for 6 s", async () => {
  const { clock } = simulated();
  const signals = new LiveSignals(clock);
  let wakes = 0;
  const { take, leave } = signals.subscribe(scope, {}, () => void wakes++);
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 150; i++) signals.publish(scope, typing(i));
  }
  expect(take()).toEqual(Array.from({ length: 100 }, (_, i) => typing(i)));
  expect(take()).toEqual([]);
  signals.publish(scope, typing(1));
  await clock.advance(3_000);
  signals.publish(scope, typing(2));
  await clock.advance(3_000);
  expect(take()).toEqual([typing(2)]);
  wakes = 0;
  leave();
  signals.publish(scope, typing(3));
  expect([wakes, take()]).toEqual([0, []]);
});

test("an engine ignores what it does not understand of another version", () => {
  const { clock } = simulated();
  const signals = new LiveSignals(clock);
  const hear: ((text: string) => void)[] = [];
  const sent: string[] = [];
  const line = { send: (text: string) => void sent.push(text), leave: () => {} };
  signals.connect({ signals: (listener) => (hear.push(listener), line) });
  const { take } = signals.subscribe(scope, {}, () => {});
  for (const text of ["", "[]", "{", '["acct_1","live",{}]']) hear[0]?.(text);
  expect(take()).toEqual([]);
  signals.publish(scope, typing(1));
  expect(take()).toEqual([typing(1)]);
  hear[0]?.(sent[0]?.replace("{", '{"new":1,') ?? "");
  expect(take()).toEqual([typing(1)]);
});

test("the longest signal fits into what a storage carries", () => {
  const { clock } = simulated();
  const signals = new LiveSignals(clock);
  const sent: string[] = [];
  const line = { send: (text: string) => void sent.push(text), leave: () => {} };
  signals.connect({ signals: () => line });
  const long = "\u{1F600}".repeat(200);
  signals.publish(scope, { ...typing(1), author: { type: "human", id: long }, author_name: long });
  expect(Buffer.byteLength(sent[0] ?? "")).toBeLessThanOrEqual(4_000);
});
