import { afterAll, beforeAll, expect, test } from "vitest";
import { cases, isLong } from "../support/runs.ts";
import type { Invariant } from "./invariant.ts";
import { invariants } from "./invariants/index.ts";
import { wronglyExcluded } from "./met-faults/table.ts";
import { simulate, type Result } from "./simulate.ts";

/** As many as a slow machine has time for. `npm run simulate -- --seeds N` runs more. */
const seeds = isLong ? 45 : 3;
/** Shorter than the command line's default, so that more combinations of faults occur. */
const steps = isLong ? 60 : 40;

// Faults cause thousands of errors, and a failure is explained by the trace, not by their stacks.
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 1;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

/** The answered sends of all histories. */
let answers = 0;

const traceHasAnswers: Invariant = {
  name: "The trace has the answer of every send.",
  check: ({ clients, trace }) => ({
    async end() {
      const texts = trace.entries.map(({ text }) => text);
      return clients.requests.flatMap(({ number, message, refusal }) => {
        const said = `client: send ${number}: `;
        if (message === undefined && refusal === null) return [];
        answers++;
        const isTold = texts.some((text) =>
          message === undefined
            ? text.startsWith(`${said}refused, 4`) && text.endsWith(` ${refusal}`)
            : text === `${said}done, ${message.id}`,
        );
        const description = `the trace has no answer of send ${number}`;
        return isTold ? [] : [{ about: [message?.id ?? ""], description }];
      });
    },
  }),
};

const replay = (seed: number): Promise<Result> =>
  simulate(seed, steps, [...invariants, traceHasAnswers]);

const histories = new Map<number, Promise<Result>>();

/** The history of a seed, which is simulated once for all tests. */
function historyOf(seed: number): Promise<Result> {
  const history = histories.get(seed) ?? replay(seed);
  histories.set(seed, history);
  return history;
}

test(`all invariants hold in ${seeds} histories of crashes, lost answers and races`, async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { failure, coverage } = await historyOf(seed);
    expect(failure, failure).toBeUndefined();
    expect(wronglyExcluded(coverage)).toEqual([]);
  }
});

test("one seed always replays the same history", async () => {
  const all = [1, 2, 3];
  for (const seed of cases(all, (each) => each === 3)) {
    expect(await replay(seed)).toEqual(await historyOf(seed));
  }
  const histories = await Promise.all(all.map(historyOf));
  expect(new Set(histories.map(({ digest }) => digest)).size).toBe(3);
});

test("a violation is reported with the trace that led to it and the command that replays it", async () => {
  // Without a number, a history has as many steps as on the command line.
  const given = isLong ? undefined : 30;
  const { failure, calls } = await simulate(4, given, [
    {
      name: "The carrier is never called.",
      check: () => ({
        *call({ message: { message_id } }) {
          yield { about: [message_id], description: `the carrier was called with ${message_id}` };
        },
      }),
    },
  ]);
  expect(calls).toBeGreaterThan(0);
  expect(failure).toMatch(
    /^seed 4 violates "The carrier is never called."\n {2}the carrier was called with msg_/,
  );
  expect(failure).toMatch(
    /msg…\w+ is (queued|sending).*\n(.*\n)* +[\d.]+ s {2}the carrier \w+ msg…/,
  );
  expect(failure).toMatch(new RegExp(`npm run simulate -- --seed 4 --steps ${given ?? 150}$`));
});

test("the trace says what each client was told: the id, or the status and the code", async () => {
  for (const seed of cases([3, 4, 5, 6], (each) => each <= seeds)) {
    const { failure } = await historyOf(seed);
    expect(failure, failure).toBeUndefined();
  }
  expect(answers, "answered sends in these histories").toBeGreaterThan(0);
});
