/** The labels of what the page knows. The page proposes them. */
import { contacts } from "./contacts.ts";
import { conversations } from "./conversations.ts";

/** The labels of contacts, the most frequent first. */
export const labelsOfContacts = (): readonly string[] => byCount(contacts.rowsNow());

/** The labels of conversations, the most frequent first. */
export const labelsOfConversations = (): readonly string[] => byCount(conversations.rowsNow());

interface Labelled {
  readonly labels: readonly string[];
}

/** Each label once. */
function byCount(rows: readonly Labelled[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { labels } of rows) {
    for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([label]) => label);
}
