import { segmentsOf } from "../messages/index.ts";
import type { AgentDefinition } from "./types.ts";
import { type Channel, containsPhrase, normalizedWords, storable } from "../kernel/index.ts";
import type { TurnFacts } from "./turn-types.ts";

/** SMS segments of a reply. Each one costs money, and handsets join long messages slowly. */
const maxSegments = 6;
/** Code points of a text that are read before it is shortened. */
const maxRead = 10_000;
/** This many consecutive words of the instructions in a text count as a leak. */
const leakedWords = 12;

/**
 * Builds one message from the texts of a turn: joins them, shortens them at a sentence if needed,
 * and adds the signature. Returns null if there is no text. A signature longer than half the limit
 * is left out.
 */
export function replyOf(
  { reply }: AgentDefinition,
  channel: Channel,
  texts: readonly string[],
): string | null {
  // Slot values come from outside and may not be storable.
  const said = texts.map((text) => storable(text, maxRead).trim()).filter((text) => text !== "");
  if (said.length === 0) return null;
  const wished = reply.signature === undefined ? "" : `\n${reply.signature}`;
  const signature = 2 * [...wished].length > reply.max_chars ? "" : wished;
  const fits = (text: string): boolean =>
    [...text, ...signature].length <= reply.max_chars &&
    (channel === "webchat" || segmentsOf(text + signature).count <= maxSegments);
  return shorten(said.join("\n\n"), fits) + signature;
}

/**
 * Whether a model's text may be sent. It must not leak the instructions. In `canned_strict` it must
 * match a text of the host application word for word.
 */
export function maySay(agent: AgentDefinition, text: string): boolean {
  return !leaks(agent, text) && (agent.reply.mode === "generated" || isCanned(agent, text));
}

/**
 * Whether a model may put these words into a slot. Playbooks send slot values, so the words must
 * not leak the instructions. In `canned_strict` the contact must have written them.
 */
export function mayHold(
  { agent, heard, said }: Pick<TurnFacts, "agent" | "heard" | "said">,
  words: string,
): boolean {
  if (leaks(agent, words)) return false;
  const own = [
    ...heard.messages.flatMap(({ from, text }) => (from === "contact" ? text : [])),
    said,
  ];
  return (
    agent.reply.mode === "generated" ||
    own.some((text) => containsPhrase(normalizedWords(text), normalizedWords(words)))
  );
}

function isCanned({ knowledge, fallback_text, handoff }: AgentDefinition, text: string): boolean {
  const said = normalizedWords(text);
  const written = [...knowledge.map((piece) => piece.text), fallback_text, handoff.message ?? ""];
  return written.some((each) => normalizedWords(each) === said);
}

function leaks({ instructions, guidelines }: AgentDefinition, text: string): boolean {
  const said = ` ${normalizedWords(text)} `;
  return [instructions, ...guidelines.map(({ then }) => then)].some((told) => {
    const words = normalizedWords(told).split(" ");
    const stretches = Array.from({ length: Math.max(0, words.length - leakedWords + 1) }, (_, i) =>
      words.slice(i, i + leakedWords).join(" "),
    );
    return stretches.some((stretch) => said.includes(` ${stretch} `));
  });
}

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Keeps as many whole sentences as fit. If the first one does not fit, it is cut. */
function shorten(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text;
  const whole = longest(
    Array.from(sentences.segment(text), ({ segment }) => segment),
    (kept) => fits(kept.trimEnd()),
  ).trimEnd();
  if (whole !== "") return whole;
  const cut = longest(
    Array.from(graphemes.segment(text), ({ segment }) => segment),
    (kept) => fits(`${kept}…`),
  );
  return `${cut.trimEnd()}…`;
}

/**
 * Returns the longest prefix that fits, by binary search. If a prefix fits, so do all shorter ones.
 */
function longest(parts: readonly string[], fits: (text: string) => boolean): string {
  let [least, most] = [0, parts.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(parts.slice(0, middle).join(""))) least = middle;
    else most = middle - 1;
  }
  return parts.slice(0, least).join("");
}
