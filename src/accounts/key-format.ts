/**
 * The text of an API key: `tdg_live_` or `tdg_test_`, 32 random base62 characters (190 bits), and 6 of CRC-32 over all
 * before them. The checksum finds typos and look-alikes without a look-up; it is no secret. Only the SHA-256 is kept.
 */
import { hash } from "node:crypto";
import type { Random } from "../ports/index.ts";
import type { Mode } from "../kernel/index.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const bodyLength = 32;
const checksumLength = 6;
const prefixes: Record<Mode, string> = { live: "tdg_live_", sandbox: "tdg_test_" };
const shape = /^tdg_(live|test)_[0-9A-Za-z]{38}$/;

/** `text` is shown once and never kept. */
export interface KeySecret {
  readonly text: string;
  readonly hash: string;
  readonly last_four: string;
}

export function drawKey(mode: Mode, random: Random): KeySecret {
  const start = prefixes[mode] + randomBase62(bodyLength, random);
  const text = start + checksum(start);
  return { text, hash: hashKey(text), last_four: text.slice(-4) };
}

/** The mode that a key's text names, or null when it can't be one of ours. */
export function parseKey(text: string): { readonly mode: Mode } | null {
  const [, kind] = shape.exec(text) ?? [];
  if (kind === undefined) return null;
  const end = text.length - checksumLength;
  if (checksum(text.slice(0, end)) !== text.slice(end)) return null;
  return { mode: kind === "live" ? "live" : "sandbox" };
}

/** SHA-256 in hexadecimal. A key has so much entropy that it needs no salt and no slow hash. */
export function hashKey(text: string): string {
  return hash("sha256", text);
}

/** Each character equally likely: bytes from 248 on, which would favour the first eight, are drawn again. */
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

/** The CRC-32 of ISO 3309 (reflected polynomial 0xEDB88320), of ASCII text. */
function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (let at = 0; at < text.length; at += 1) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return ~crc >>> 0;
}
