import { keepLatest } from "../../../shared/browser/index.ts";

/**
 * The contacts that were erased while the page was open. A response that the server prepared before
 * the erasure may still contain them and their conversations.
 */
const erased = new Set<string>();
const maxErased = 1_000;

export function noteErased(contactId: string): void {
  erased.add(contactId);
  keepLatest(erased, maxErased);
}

export const isErased = (contactId: string): boolean => erased.has(contactId);
