import { containsPhrase, normalizedWords } from "../../kernel/index.ts";
import type { PlaybookDefinition } from "./types.ts";

/** Characters of what was said that are looked at. */
const mostRead = 4_000;

/**
 * The playbook that a text starts by its keywords: words or phrases as a whole, in any case and with any accents. Of several the one of
 * the highest priority, and of those the first. Intents, and `when`, are a model's to judge.
 */
export function triggered<P extends { readonly definition: PlaybookDefinition }>(
  playbooks: readonly P[],
  said: string,
): P | undefined {
  const words = normalizedWords(said.slice(0, mostRead));
  return playbooks
    .toSorted((a, b) => b.definition.trigger.priority - a.definition.trigger.priority)
    .find(({ definition: { trigger } }) =>
      trigger.keywords?.some((keyword) => containsPhrase(words, normalizedWords(keyword))),
    );
}
