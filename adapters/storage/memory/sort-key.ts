import type { Stored } from "../layout.ts";

/** Sorts after every key that has the prefix it is put behind. */
export const beyond = "\u00ff";

/**
 * A key as one string that sorts as the key's parts do in SQLite: null, then numbers, then text by code point. What
 * keys have in common at their beginnings, their strings have too.
 */
export function sortKey(parts: readonly Stored[]): string {
  let key = "";
  for (const part of parts) {
    if (part === null) key += "\u0001";
    else {
      key +=
        typeof part === "number"
          ? `\u0002${sortableNumber(part)}`
          : `\u0003${sortableText(part)}\0\0`;
    }
  }
  return key;
}

const bits = new DataView(new ArrayBuffer(8));

/**
 * The bytes of a double, with the sign turned round, and all bits of what is negative (IEEE 754 sorts so by design).
 */
function sortableNumber(value: number): string {
  bits.setFloat64(0, value);
  const high = bits.getInt32(0);
  const flip = high < 0 ? -1 : 0;
  const a = high ^ (flip | 0x8000_0000);
  const b = bits.getInt32(4) ^ flip;
  return String.fromCharCode(
    (a >>> 24) & 255,
    (a >>> 16) & 255,
    (a >>> 8) & 255,
    a & 255,
    (b >>> 24) & 255,
    (b >>> 16) & 255,
    (b >>> 8) & 255,
    b & 255,
  );
}

const special = /[\0\ud800-\uffff]/;

/**
 * JavaScript sorts by 16-bit units, in which surrogates, that stand for the highest code points, come before U+E000:
 * the two change places. A NUL is kept apart from the end of the text.
 */
function sortableText(text: string): string {
  if (!special.test(text)) return text;
  let sortable = "";
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0) sortable += "\0\u0001";
    else if (unit < 0xd800) sortable += text.charAt(i);
    else sortable += String.fromCharCode(unit >= 0xe000 ? unit - 0x800 : unit + 0x2000);
  }
  return sortable;
}
