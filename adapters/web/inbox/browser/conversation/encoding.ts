/** How an SMS is encoded and how many parts it takes (3GPP TS 23.038 and 23.040). */

const basic =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
  "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const one = new Set(basic);
/** Each of these takes the room of two. */
const two = new Set("\f^{}\\[~]|€");

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The encoding and size of an SMS. */
export interface SmsSize {
  readonly encoding: "GSM-7" | "UCS-2";
  readonly parts: number;
  /** How many units fit into the last part. */
  readonly remaining: number;
  /** The first character that GSM-7 lacks. Null if it has all. */
  readonly culprit: string | null;
}

/** Measures a text. A part never splits an escaped character or a grapheme. */
export function smsSize(text: string): SmsSize {
  const sizes: number[] = [];
  let culprit: string | null = null;
  for (const { segment } of graphemes.segment(text)) {
    for (const character of segment) {
      if (one.has(character)) sizes.push(1);
      else if (two.has(character)) sizes.push(2);
      else culprit ??= segment;
    }
    if (culprit !== null) break;
  }
  if (culprit === null) return { encoding: "GSM-7", culprit, ...fill(sizes, 160, 153) };
  const units: number[] = [];
  for (const { segment } of graphemes.segment(text)) {
    // A line break of two characters may be split.
    if (segment === "\r\n") units.push(1, 1);
    else units.push(segment.length);
  }
  return { encoding: "UCS-2", culprit, ...fill(units, 70, 67) };
}

function fill(
  sizes: readonly number[],
  single: number,
  each: number,
): Pick<SmsSize, "parts" | "remaining"> {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total <= single) return { parts: 1, remaining: single - total };
  let parts = 1;
  let used = 0;
  for (const size of sizes) {
    if (used + size > each && size <= each) {
      parts += 1;
      used = size;
    } else {
      used += size;
      // Only what is larger than a part is split.
      while (used > each) {
        parts += 1;
        used -= each;
      }
    }
  }
  return { parts, remaining: each - used };
}
