import { storable, type Channel } from "../../../kernel/index.ts";
import { segmentsOf } from "../../../messages/index.ts";
import type { AgentDefinition } from "../../types.ts";

/** SMS segments of a reply. Each one costs money, and handsets join long messages slowly. */
const maxSegments = 6;
/** Longer texts are first cut to this many code points. */
const maxRead = 10_000;

/**
 * Builds one message from the texts of a turn: joins them, shortens them at a sentence if needed,
 * and adds the signature. `last` follows the texts and is shortened only if it does not fit by
 * itself: it is what the contact must read, such as a question. Returns null if there is no text. A
 * signature longer than half the limit is left out.
 */
export function replyOf(
  { reply }: AgentDefinition,
  channel: Channel,
  texts: readonly string[],
  last = "",
): string | null {
  const start = cleaned(texts.map(cleaned).filter(isNotEmpty).join("\n\n"));
  const end = cleaned(last);
  if (start === "" && end === "") return null;
  const signatureLine = reply.signature === undefined ? "" : `\n${reply.signature}`;
  const signature = 2 * [...signatureLine].length > reply.max_chars ? "" : signatureLine;
  const fits = (text: string): boolean =>
    [...text, ...signature].length <= reply.max_chars &&
    (channel === "webchat" || segmentsOf(text + signature).count <= maxSegments);
  const withEnd = (text: string): string => [text, end].filter(isNotEmpty).join("\n\n");
  const hasRoom = start !== "" && fits(withEnd("…"));
  const text = hasRoom
    ? withEnd(shorten(start, (kept) => fits(withEnd(kept))))
    : shorten(end, fits);
  return text + signature;
}

/**
 * Slot values and answers of models come from outside. They may not be storable, or show nothing
 * to the contact.
 */
function cleaned(text: string): string {
  const kept = storable(text, maxRead).trim();
  return visible.test(kept) ? kept : "";
}

const visible = /[^\p{Default_Ignorable_Code_Point}\p{Cc}\p{Z}]/u;
const isNotEmpty = (text: string): boolean => text !== "";

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
  let [min, max] = [0, parts.length];
  while (min < max) {
    const middle = Math.ceil((min + max) / 2);
    if (fits(parts.slice(0, middle).join(""))) min = middle;
    else max = middle - 1;
  }
  return parts.slice(0, min).join("");
}
