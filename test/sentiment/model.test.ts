import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { VirtualClock } from "../../adapters/testing/index.ts";
import {
  addScore,
  sentimentOf,
  type SentimentState,
} from "../../src/contacts/sentiment/sentiment-rules.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import type { SentimentAnalyzer } from "../../src/ports/sentiment.ts";
import { stopped, world } from "../support/engines/world.ts";
import { modelCommands } from "../support/model-commands.ts";
import { runsOn } from "../support/runs.ts";
import { storages } from "../support/storage/storages.ts";

const phones = ["+15005550101", "+15005550102"] as const;

interface Person {
  id: string | undefined;
  /** The score of each message, in order of arrival. */
  readonly said: number[];
}

interface Model {
  readonly people: readonly [Person, Person];
}

interface Real {
  readonly clock: VirtualClock;
  readonly running: [MessagingEngine, MessagingEngine];
  readonly begin: () => Promise<MessagingEngine>;
}

/** The number of messages that a sentiment state lists. */
const maxCommands = 20;

const fold = (list: readonly number[]): SentimentState | null =>
  list.reduce<SentimentState | null>(addScore, null);

/** Checks that a prefix of each person's messages counts, once each. Returns whether all count. */
async function checkAgreement(
  { people }: Model,
  { clock, running: [one] }: Real,
): Promise<boolean> {
  await clock.settle();
  let isAll = true;
  for (const { id, said } of people) {
    if (id === undefined) continue;
    const { current, messages } = await one.contacts.sentiment(id);
    const counted = said.slice(0, messages.length);
    expect(
      messages.map(({ score }) => score),
      `The scores of contact ${id} are listed newest first.`,
    ).toEqual(counted.toReversed());
    const mood = fold(counted);
    expect(current, `The sentiment of contact ${id} follows from all of its scores.`).toEqual(
      mood === null ? null : sentimentOf(mood),
    );
    if (counted.length < said.length) isAll = false;
  }
  return isAll;
}

/** The successive labels of a person's sentiment state. */
function shifts(said: readonly number[]): string[] {
  const labels = said.map((_, i) => fold(said.slice(0, i + 1))?.label ?? "neutral");
  return labels.filter((label, i) => label !== (labels[i - 1] ?? "neutral"));
}

const command = modelCommands(checkAgreement);

const which = fc.constantFrom<0 | 1>(0, 1);

/** Evenly distributed. Most arbitrary doubles are close to zero and would not change the state. */
const score = fc.integer({ min: -100, max: 100 }).map((percent) => percent / 100);

const says = fc.record({ score, who: which, by: which }).map(({ score, who, by }) =>
  command(
    `${phones[who]} says ${score} at engine ${by}`,
    async ({ people }, { running, clock }) => {
      const said = await running[by].sandbox.inbound({ from: phones[who], body: String(score) });
      people[who].id = said.contact_id;
      people[who].said.push(score);
      // Messages of one millisecond have no order across engines.
      await clock.advance(1);
    },
  ),
);
const passes = fc
  .constantFrom(1, 150, 7_000)
  .map((ms) => command(`${ms} ms pass`, (_, { clock }) => clock.advance(ms)));
const restarts = which.map((by) =>
  command(`engine ${by} starts anew`, async (_, { running, clock, begin }) => {
    await stopped(running[by], clock, 0);
    running[by] = await begin();
  }),
);

describe.each(storages)("sentiment states on $name", ({ name, open }) => {
  it("equal a sequential fold of the scores, with two engines that stop at any time", async () => {
    const numRuns = runsOn(name, { memory: 40, SQLite: 8, PostgreSQL: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.commands<Model, Real, false>([says, says, says, passes, restarts], { maxCommands }),
        async (commands) => {
          const { started, clock } = world();
          const ground = open();
          // Scoring is slow, so that engines stop during a call.
          const slow: SentimentAnalyzer = {
            score: async (text) => clock.sleep(100).then(() => Number(text)),
          };
          const begin = async (): Promise<MessagingEngine> => {
            const each = await started(ground.connect(), { sentiment: slow });
            return each;
          };
          const model: Model = {
            people: [
              { id: undefined, said: [] },
              { id: undefined, said: [] },
            ],
          };
          const real: Real = { clock, running: [await begin(), await begin()], begin };
          await fc.asyncModelRun(() => ({ model, real }), commands);
          await clock.advanceUntil(() => checkAgreement(model, real));
          for (const { id, said } of model.people) {
            const { data } = await real.running[0].events.list({
              type: "sentiment.changed",
              limit: 100,
            });
            const own = data.flatMap(({ type, data: told }) =>
              type === "sentiment.changed" && told.contact.id === id ? [told.to.label] : [],
            );
            expect(
              own.toReversed(),
              `Contact ${id} has one \`sentiment.changed\` event for each change of label.`,
            ).toEqual(shifts(said));
          }
        },
      ),
      { numRuns },
    );
  });
});
