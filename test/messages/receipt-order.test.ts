/** The order in which receipts of several attempts arrive. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { Route } from "../../src/ports/route.ts";
import type { SendAnswer, SendContext } from "../../src/ports/transport.ts";
import {
  accepted,
  busy,
  carrier,
  lost,
  providerId,
  refusal,
  refused,
} from "../support/engines/carrier.ts";
import { fastForward } from "../support/engines/fast-forward.ts";
import { stopped, world } from "../support/engines/world.ts";
import { isLong } from "../support/runs.ts";

/** A carrier's answer to one call, and how long it takes, in milliseconds. */
interface Answered {
  readonly answer: (attempt: SendContext) => SendAnswer;
  readonly takes: number;
}

/** A receipt of the attempt with the index `attempt`, if it has been made. */
interface Told {
  readonly attempt: number;
  readonly status: "sent" | "undelivered";
}

interface Story {
  readonly fallBackAfter: NonNullable<Route["fallBackAfter"]>;
  readonly carriers: number;
  /** The answers to the calls, in order. */
  readonly answers: readonly Answered[];
  readonly notSent: boolean;
  readonly steps: readonly { readonly wait: number; readonly told: readonly Told[] }[];
}

const losesAnswer: Answered["answer"] = () => lost;

const answers: readonly Answered["answer"][] = [
  losesAnswer,
  losesAnswer,
  () => busy(),
  () => busy(20_000),
  () => refused,
  () => refusal("invalid_sender"),
  accepted,
];

const stories: fc.Arbitrary<Story> = fc.record({
  fallBackAfter: fc.constantFrom<Story["fallBackAfter"]>(
    ["ambiguous"],
    ["undelivered"],
    ["ambiguous", "undelivered"],
  ),
  carriers: fc.constantFrom(1, 2, 2, 3),
  answers: fc.array(
    fc.record({ answer: fc.constantFrom(...answers), takes: fc.constantFrom(0, 0, 0, 8_000) }),
    { minLength: 4, maxLength: 4 },
  ),
  notSent: fc.boolean(),
  steps: fc.array(
    fc.record({
      wait: fc.constantFrom(0, 4_000, 30_000),
      told: fc.array(
        fc.record({
          attempt: fc.constantFrom(0, 0, 1, 2),
          status: fc.constantFrom("sent", "undelivered"),
        }),
        { minLength: 2, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 2 },
  ),
});

/** Whether the answer to the call with the index `attempt` is lost. */
function isLost({ answers: given }: Story, attempt: number): boolean {
  return given[attempt]?.answer === losesAnswer;
}

/**
 * Whether a step has a receipt that can come too late to prevent a call. A receipt `undelivered` can
 * make the engine call the third carrier at once. It might not have called if it had known what
 * became of another attempt, whose answer was lost.
 */
function canComeTooLate(story: Story): boolean {
  if (!story.fallBackAfter.includes("ambiguous")) return false;
  if (story.carriers < 3 || story.notSent) return false;
  return story.steps.some(({ told }) =>
    told.some(
      ({ attempt, status }) =>
        status === "undelivered" &&
        told.some((other) => other.attempt !== attempt && isLost(story, other.attempt)),
    ),
  );
}

const inTime = stories.filter((story) => !canComeTooLate(story));

/** Returns what a user sees of a message at the end. */
async function ending(story: Story, inOrder: (told: readonly Told[]) => readonly Told[]) {
  const { clock, started } = world();
  const storage = memory();
  const made: { readonly attempt: SendContext; readonly line: number; readonly at: number }[] = [];
  const refusals = new Set<SendContext>();
  const names = ["sandbox", "second", "third"].slice(0, story.carriers);
  const lines = names.map((name, line) =>
    carrier({
      name,
      async send(_, attempt) {
        const { answer, takes } = story.answers[made.length] ?? { answer: accepted, takes: 0 };
        made.push({ attempt, line, at: clock.now() });
        if (takes > 0) await clock.sleep(takes);
        const answered = answer(attempt);
        const isLost = answered.outcome === "ambiguous";
        if (answered.outcome === "rejected" || (isLost && story.notSent)) refusals.add(attempt);
        return answered;
      },
      lookup: () => ({ outcome: story.notSent ? "not_sent" : "unknown" }),
    }),
  );
  const one = await started(storage, {
    transports: lines,
    routes: [{ transports: names, fallBackAfter: story.fallBackAfter }],
  });
  const { id } = await one.messages.send({ to: "+15005550001", body: "Hello" });
  await clock.settle();
  const about = new Set(story.steps.flatMap(({ told }) => told.map(({ attempt }) => attempt)));
  for (const { wait, told } of story.steps) {
    await clock.advance(wait);
    const known = [...made];
    for (const { attempt: index, status } of inOrder(told)) {
      const { attempt, line } = known[index] ?? {};
      if (attempt === undefined || line === undefined) continue;
      // A carrier that reports on an attempt that it refused, or that its look-ups do not find,
      // contradicts itself. If the outcome of another attempt is open, the order then decides.
      const isOpen = about.size > 1 || made.some((_, i) => i !== index && isLost(story, i));
      if (isOpen && refusals.has(attempt)) continue;
      const { attempt_id } = attempt;
      const subject = { attempt_id, provider_message_id: providerId(attempt) };
      const error = { code: "carrier_unavailable", message: "" } as const;
      const receipt = { status, at: clock.now(), ...(status === "undelivered" && { error }) };
      await lines[line]?.sink().receipt(subject, receipt);
    }
    await clock.settle();
  }
  await fastForward(clock, storage, 2 * 3_600_000);
  const { status } = await one.messages.get(id);
  const failures = (await one.events.list({ type: "message.failed" })).data.length;
  await stopped(one, clock);
  return { status, failures, calls: made.map(({ line, at }) => `${names[line]} ${at}`) };
}

it("the order of receipts does not change how a message ends, whom the engine calls, or how often it reports a failure", async () => {
  await fc.assert(
    fc.asyncProperty(inTime, async (story) => {
      const first = await ending(story, (told) => told);
      const second = await ending(story, (told) => told.toReversed());
      expect(second).toEqual(first);
    }),
    { numRuns: isLong ? 200 : 6 },
  );
});
