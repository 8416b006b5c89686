/** The keys under which writes are sent, so that the server does each once. */
import { keepLatest } from "../keep-latest.ts";

/** A new idempotency key. `crypto.randomUUID` exists on https and localhost only. */
export const newKey = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
};

const maxReplaced = 100;
/** For a caller's key, the key under which its write is sent now. */
const replacements = new Map<string, string>();

/** Returns the key under which the next write of a caller's key is sent. */
export const currentKey = (key: string): string => replacements.get(key) ?? key;

/**
 * Lets the next write of a caller's key go out under a new key, after the server has refused a
 * write. Under the old key, the server would repeat the refusal, even if its reason is gone.
 */
export function replaceKey(key: string): void {
  replacements.set(key, newKey());
  keepLatest(replacements, maxReplaced);
}
