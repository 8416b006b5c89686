import { containsPhrase, normalizedWords } from "../../../kernel/index.ts";
import type { PlaybookDefinition } from "../types.ts";

/** The maximum number of characters of a text that are searched for keywords. */
const maxRead = 4_000;

/**
 * Returns the playbook whose keywords occur in a text as whole words or phrases, regardless of case
 * and accents. If several match, the highest priority wins, then the first in the list. Intents and
 * `when` are left to the model.
 */
export function triggeredPlaybook<P extends { readonly definition: PlaybookDefinition }>(
  playbooks: readonly P[],
  text: string,
): P | undefined {
  const words = normalizedWords(text.slice(0, maxRead));
  return playbooks
    .toSorted((a, b) => b.definition.trigger.priority - a.definition.trigger.priority)
    .find(({ definition: { trigger } }) =>
      trigger.keywords?.some((keyword) => containsPhrase(words, normalizedWords(keyword))),
    );
}
