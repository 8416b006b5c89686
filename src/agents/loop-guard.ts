import type { TurnFacts } from "./facts.ts";
import { normalizedWords } from "../kernel/index.ts";

/** What is older says nothing about now; in milliseconds. */
const windowMs = 600_000;
/** So many times the same is no person's any more; what is shorter than so many words may well be: yes please, no thanks. */
const mostAlike = 3;
const fewestWords = 4;
/** Answers that come this fast nobody types; so many of them, and nobody does. In milliseconds. */
const fastest = 1_500;
const mostFast = 5;

type Facts = Pick<TurnFacts, "heard" | "now" | "isPaused"> & {
  readonly session: Pick<TurnFacts["session"], "frames">;
};

/** Whether the other side writes as machines do: the same again and again, or faster than anybody types, exchange after exchange. */
export function suspectsLoop({ heard, now, session, isPaused }: Facts): boolean {
  const messages = heard.messages.filter(({ at }) => at > now - windowMs);
  // Questions may well have the same answer, and a playbook has its own end.
  const isAnswer = session.frames.at(-1)?.asked === true && !isPaused;
  if (!isAnswer && repeats(messages, heard.unanswered)) return true;
  const fast = messages.filter(({ from, at }, i) => {
    const before = messages[i - 1];
    return from === "contact" && before?.from === "agent" && at - before.at < fastest;
  });
  return fast.length >= mostFast;
}

/** Whether what the contact wrote last it has written often enough before. */
function repeats(messages: TurnFacts["heard"]["messages"], unanswered: number): boolean {
  const said = messages.map(({ from, text }) => (from === "contact" ? normalizedWords(text) : ""));
  const last = unanswered === 0 ? [] : said.slice(-unanswered);
  return last
    .filter((words) => words.split(" ").length >= fewestWords)
    .some((words) => said.filter((each) => each === words).length >= mostAlike);
}
