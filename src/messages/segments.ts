/** Counts the parts that an SMS is billed as. */
import type { Channel } from "../kernel/index.ts";
import type { MessageRow } from "./rows.ts";
import type { Segments } from "./types.ts";

/**
 * GSM 03.38 basic characters, except letters and digits. Both lists are written for use in a
 * character class.
 */
const basic = "\n\r !\"#$%&'()*+,\\-./:;<=>?@_¡£¤¥§¿ÄÅÆÇÉÑÖØÜßàäåæèéìñòöøùüΓΔΘΛΞΠΣΦΨΩ";
/** GSM 03.38 extension characters. Each needs an additional escape unit. */
const extension = "\\f\\[\\\\\\]\\^{|}~€";

const gsmText = new RegExp(`^[A-Za-z0-9${basic}${extension}]*$`);
const extended = new RegExp(`[${extension}]`, "g");
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Counts parts by 3GPP TS 23.040. A single part holds 160 GSM-7 or 70 UCS-2 units; each of several
 * holds 153 or 67. A part never splits an escaped character or a grapheme.
 */
export function segmentsOf(text: string): Segments {
  if (gsmText.test(text)) {
    const escapes = text.match(extended)?.length ?? 0;
    const units = text.length + escapes;
    if (units <= 160) return { count: 1, encoding: "GSM-7" };
    if (escapes === 0) return { count: Math.ceil(units / 153), encoding: "GSM-7" };
    return { count: parts(gsmSizes(text), 153), encoding: "GSM-7" };
  }
  if (text.length <= 70) return { count: 1, encoding: "UCS-2" };
  return { count: parts(graphemeSizes(text), 67), encoding: "UCS-2" };
}

/** Returns the columns of a message that store its segments. Only SMS has them. */
export function segmentColumns(
  channel: Channel,
  body: string,
): Pick<MessageRow, "segments" | "encoding"> {
  if (channel !== "sms") return { segments: null, encoding: null };
  const { count, encoding } = segmentsOf(body);
  return { segments: count, encoding };
}

function* gsmSizes(text: string): Iterable<number> {
  for (const character of text) yield character.search(extended) === 0 ? 2 : 1;
}

function* graphemeSizes(text: string): Iterable<number> {
  for (const { segment } of graphemes.segment(text)) {
    // CRLF is one grapheme, but it may be split.
    if (segment === "\r\n") yield* [1, 1];
    else yield segment.length;
  }
}

/**
 * Counts the parts that hold units of these sizes in order. Only a unit that is larger than a part
 * is split.
 */
function parts(sizes: Iterable<number>, room: number): number {
  let count = 1;
  let used = 0;
  for (const size of sizes) {
    if (used + size <= room) {
      used += size;
    } else if (size <= room) {
      count += 1;
      used = size;
    } else {
      const total = used + size;
      const filled = Math.ceil(total / room) - 1;
      count += filled;
      used = total - filled * room;
    }
  }
  return count;
}
