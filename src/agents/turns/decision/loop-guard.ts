/** The loop guard recognizes contacts that are machines, which would answer every reply. */
import { normalizedWords } from "../../../kernel/index.ts";
import type { TurnFacts } from "../turn-types.ts";

/** Messages older than this are not considered, in milliseconds. */
const windowMs = 600_000;

/** The same message this many times suggests a machine, if it has at least four words. */
const maxAlike = 3;

const minWords = 4;

/**
 * Shorter messages suggest a machine if this many in a row are the same. People repeat "yes please"
 * and "no thanks", but they write something else between.
 */
const maxInARow = 5;

/**
 * A contact's answer within this many milliseconds counts as fast. This many fast answers suggest a
 * machine.
 */
const maxFastMs = 1_500;

const maxFast = 5;

type LoopFacts = Pick<TurnFacts, "history" | "now" | "isPaused"> & {
  readonly session: Pick<TurnFacts["session"], "frames">;
};

/**
 * Whether the contact seems to be a machine: it repeats the same text, or repeatedly answers faster
 * than people type. Only messages since the agent last got the conversation count, because contacts
 * repeat themselves while they wait for a person, and after a hand-back.
 */
export function isLikelyLoop({ history, now, session, isPaused }: LoopFacts): boolean {
  const { messages: all, guarded } = history;
  const messages = all.slice(all.length - guarded).filter(({ at }) => at > now - windowMs);
  // Different questions of a playbook can have the same answer, and a playbook ends by itself.
  const isAnswer = session.frames.at(-1)?.asked === true && !isPaused;
  if (!isAnswer && repeats(messages, history.unanswered)) return true;
  const fast = messages.filter(({ from, at }, i) => {
    const before = messages[i - 1];
    return from === "contact" && before?.from === "agent" && at - before.at < maxFastMs;
  });
  return fast.length >= maxFast;
}

function repeats(messages: TurnFacts["history"]["messages"], unanswered: number): boolean {
  if (unanswered === 0) return false;
  const contactTexts = messages.map(({ from, text }) =>
    // A message of emoji has no words.
    from === "contact" ? normalizedWords(text) || text : "",
  );
  const texts = contactTexts.filter((each) => each !== "");
  const inARow = texts.slice(-maxInARow);
  if (inARow.length === maxInARow && new Set(inARow).size === 1) return true;
  return contactTexts
    .slice(-unanswered)
    .filter((words) => words.split(" ").length >= minWords)
    .some((words) => texts.filter((each) => each === words).length >= maxAlike);
}
