/**
 * An API key is `tdg_live_` or `tdg_test_`, then 32 random base62 characters (190 bits), then a
 * checksum in 6 base62 characters: the CRC-32 of everything before it. The checksum detects typos
 * without a look-up. Only the SHA-256 of the key is stored.
 */
import { hash } from "node:crypto";
import type { Mode } from "../../kernel/index.ts";
import type { Random } from "../../ports/index.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const bodyLength = 32;
const checksumLength = 6;
const prefixes: Record<Mode, string> = { live: "tdg_live_", sandbox: "tdg_test_" };
const shape = /^tdg_(?:live|test)_[0-9A-Za-z]{38}$/;

/** `text` is returned once and never stored. */
interface KeySecret {
  readonly text: string;
  readonly hash: string;
  readonly last_four: string;
}

export function drawKey(mode: Mode, random: Random): KeySecret {
  const start = prefixes[mode] + randomBase62(bodyLength, random);
  const text = start + checksum(start);
  return { text, hash: hashKey(text), last_four: text.slice(-4) };
}

/** Whether a text is a well-formed key. The engine may still not know it. */
export function isWellFormedKey(text: string): boolean {
  const end = text.length - checksumLength;
  return shape.test(text) && checksum(text.slice(0, end)) === text.slice(end);
}

/** SHA-256 in hexadecimal. A key has enough entropy to need neither a salt nor a slow hash. */
export function hashKey(text: string): string {
  return hash("sha256", text);
}

/** Skips bytes from 248 on, because they would make the first eight characters more likely. */
function randomBase62(length: number, random: Random): string {
  let drawn = "";
  while (drawn.length < length) {
    for (const byte of random.bytes(length - drawn.length)) {
      if (byte < 248) drawn += alphabet.charAt(byte % 62);
    }
  }
  return drawn;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let place = 0; place < checksumLength; place += 1) {
    digits = alphabet.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** CRC-32 as in ISO 3309 (reflected polynomial 0xEDB88320) of ASCII text. */
function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (let at = 0; at < text.length; at += 1) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return ~crc >>> 0;
}
