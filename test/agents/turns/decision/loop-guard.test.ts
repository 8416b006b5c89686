/** The loop guard, as a function over the latest messages of a conversation. */
import { describe, expect, it } from "vitest";
import type { Frame } from "../../../../src/agents/playbooks/play/frames.ts";
import { isLikelyLoop } from "../../../../src/agents/turns/decision/loop-guard.ts";
import type { MessageHistory } from "../../../../src/agents/turns/turn-types.ts";
import type { ModelMessage } from "../../../../src/ports/agent-model.ts";
import { frame } from "../../playbooks/sample-frame.ts";

const now = 1_000_000_000;

type LoopFacts = Parameters<typeof isLikelyLoop>[0];

const isLoop = (facts: Partial<LoopFacts> & Pick<LoopFacts, "history">): boolean =>
  isLikelyLoop({ now, isPaused: false, session: { frames: [] }, ...facts });

/** A history of which the loop guard counts all messages, and all of the contact's wait. */
function historyOf(...messages: readonly ModelMessage[]): { readonly history: MessageHistory } {
  const { length } = messages;
  return { history: { messages, firstSequence: 1, unanswered: length, guarded: length } };
}

const texted = (text: string, at = now, from: ModelMessage["from"] = "contact"): ModelMessage => ({
  from,
  text,
  at,
});

describe("a contact seems to be a machine", () => {
  const text = "I am out of office";
  const times = (count: number, more: readonly ModelMessage[] = []) =>
    historyOf(...more, ...Array.from({ length: count }, () => texted(text)));

  it("if it sends the same text of four words or more three times within ten minutes", () => {
    expect(isLoop(times(3)), "Three equal texts suggest a machine.").toBe(true);
    expect(isLoop(times(2)), "People say the same thing twice.").toBe(false);
    expect(
      isLoop(historyOf(...[1, 2, 3].map(() => texted("I am not here")))),
      "Four words are enough.",
    ).toBe(true);
    expect(
      isLoop(historyOf(...[1, 2, 3].map(() => texted("no thank you")))),
      "People repeat short texts.",
    ).toBe(false);
    expect(
      isLoop(historyOf(texted(text), texted("I AM out of office!"), texted("Am I out of office"))),
      "Only equal texts count.",
    ).toBe(false);
    expect(
      isLoop(historyOf(texted(text), texted("I AM out of office!"), texted(text))),
      "Upper case and punctuation do not count.",
    ).toBe(true);
    expect(
      isLoop(times(2, [texted(text, now - 599_999)])),
      "A text of the last ten minutes counts.",
    ).toBe(true);
    expect(isLoop(times(2, [texted(text, now - 600_000)])), "An older text does not.").toBe(false);
    for (const from of ["agent", "human", "host"] as const) {
      expect(
        isLoop(times(2, [texted(text, now, from)])),
        `Only the contact's texts count, not one of ${from}.`,
      ).toBe(false);
    }
  });

  it("if its last five texts are the same, even a short one or an emoji", () => {
    const row = (...texts: readonly string[]) => historyOf(...texts.map((each) => texted(each)));
    const got = "Thanks, got it!";
    expect(isLoop(row(got, got, got, got, got)), "Five in a row suggest a machine.").toBe(true);
    expect(isLoop(row(got, got, got, got)), "Four in a row do not.").toBe(false);
    expect(isLoop(row(got, got, got, "And now?", got, got)), "Another is between.").toBe(false);
    expect(isLoop(row("Hi", got, got, "THANKS got it", got, got)), "One is before.").toBe(true);
    expect(isLoop(row("👍", "👍", "👍", "👍", "👍")), "An emoji is a text.").toBe(true);
    expect(isLoop(row("👍", "🙏", "👍", "🙏", "👍")), "These emoji are different.").toBe(false);
    const answered = [1, 2, 3, 4, 5].flatMap(() => [
      texted("You're welcome!", now, "agent"),
      texted(got),
    ]);
    expect(isLoop(historyOf(...answered)), "The agent's answers are no break.").toBe(true);
    const { history } = row(got, got, got, got, got);
    expect(isLoop({ history: { ...history, unanswered: 0 } }), "No text waits.").toBe(false);
    expect(isLoop({ history, session: { frames: [frame] } }), "The texts answer questions.").toBe(
      false,
    );
  });

  it("by a text that waits for an answer, since the agent last got the conversation", () => {
    const messages = [1, 2, 3].map(() => texted(text));
    const other = texted("What are your opening hours?");
    const isLoopOf = (all: readonly ModelMessage[], unanswered: number, guarded: number) =>
      isLoop({ history: { ...historyOf(...all).history, unanswered, guarded } });
    expect(isLoopOf(messages, 1, 3), "One of the three texts waits.").toBe(true);
    expect(isLoopOf(messages, 0, 3), "No text waits.").toBe(false);
    expect(isLoopOf([...messages, other], 1, 4), "Another text waits.").toBe(false);
    expect(isLoopOf([...messages, other], 2, 4), "Two texts wait.").toBe(true);
    expect(isLoopOf(messages, 3, 2), "One text is from before.").toBe(false);
    expect(isLoopOf([other, ...messages], 1, 3), "All three came since.").toBe(true);
  });

  it("but not while it answers the questions of a playbook", () => {
    const within = (frames: readonly Frame[], isPaused = false) =>
      isLoop({ ...times(3), session: { frames }, isPaused });
    expect(within([frame]), "Different questions can have the same answer.").toBe(false);
    expect(within([{ ...frame, asked: false }]), "Nothing was asked.").toBe(true);
    expect(within([{ ...frame, asked: false }, frame]), "The last question counts.").toBe(false);
    expect(within([frame, { ...frame, asked: false }]), "The last step has not asked.").toBe(true);
    expect(within([frame], true), "A playbook that waits for an approval asks nothing.").toBe(true);
  });

  it("if it answers the agent five times faster than people type", () => {
    const exchange = (count: number, ms: number, from: ModelMessage["from"] = "agent") =>
      historyOf(
        texted("Hello"),
        ...Array.from({ length: count }, (_, i) => [
          texted(`Question ${i}`, now - 60_000 + i * 2_000, from),
          texted(`Answer ${i}`, now - 60_000 + i * 2_000 + ms),
        ]).flat(),
      );
    expect(isLoop(exchange(5, 1_499)), "Five fast answers suggest a machine.").toBe(true);
    expect(isLoop(exchange(4, 1_499)), "Four fast answers can be chance.").toBe(false);
    expect(isLoop(exchange(5, 1_500)), "People type as fast as this.").toBe(false);
    expect(isLoop(exchange(5, 0, "human")), "Only answers to the agent count.").toBe(false);
    const replies = [1, 2, 3, 4, 5, 6].map((i) => texted(`Part ${i}`, now, "agent"));
    expect(isLoop(historyOf(...replies)), "The agent may write several in a row.").toBe(false);
  });
});
