import { segmentsOf } from "../messages/index.ts";
import type { AgentDefinition } from "./types.ts";
import { type Channel, containsPhrase, normalizedWords, storable } from "../kernel/index.ts";
import type { TurnFacts } from "./facts.ts";

/** An SMS in more parts is a letter: handsets put them together late, and each one is paid for. */
const mostSegments = 6;
/** Code points of a text before it is cut to what a message holds. */
const mostRead = 10_000;
/** A stretch of the instructions this long, word for word, is no coincidence. In words. */
const leakedWords = 12;

/**
 * The one message that a turn's texts make: joined, cut at a sentence where it is too long, signed. Null where nothing is left to say. A
 * signature that would take the half of it is left out.
 */
export function replyOf(
  { reply }: AgentDefinition,
  channel: Channel,
  texts: readonly string[],
): string | null {
  // Values of slots come from anywhere.
  const said = texts.map((text) => storable(text, mostRead).trim()).filter((text) => text !== "");
  if (said.length === 0) return null;
  const wished = reply.signature === undefined ? "" : `\n${reply.signature}`;
  const signature = 2 * [...wished].length > reply.max_chars ? "" : wished;
  const fits = (text: string): boolean =>
    [...text, ...signature].length <= reply.max_chars &&
    (channel === "webchat" || segmentsOf(text + signature).count <= mostSegments);
  return shortened(said.join("\n\n"), fits) + signature;
}

/** Whether what a model wrote may be sent: it gives nothing away, and in `canned_strict` the host wrote it, word for word. */
export function maySay(agent: AgentDefinition, text: string): boolean {
  return !leaks(agent, text) && (agent.reply.mode === "generated" || isCanned(agent, text));
}

/**
 * Whether a model may have a slot hold these words, which playbooks put into what they say: they give nothing away, and in `canned_strict`
 * the contact wrote them.
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

/** As many whole sentences as fit; of a first one that doesn't, as much as does. */
function shortened(text: string, fits: (text: string) => boolean): string {
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

/** The longest beginning that fits. What fits once, fits shorter: so it is halved towards. */
function longest(parts: readonly string[], fits: (text: string) => boolean): string {
  let [least, most] = [0, parts.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(parts.slice(0, middle).join(""))) least = middle;
    else most = middle - 1;
  }
  return parts.slice(0, least).join("");
}
