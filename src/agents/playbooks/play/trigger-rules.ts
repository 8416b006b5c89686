import { containsPhrase, normalizedWords } from "../../../kernel/index.ts";
import type { PlaybookDefinition } from "../types.ts";

/** The maximum number of characters of a text that are searched for keywords. */
const maxRead = 4_000;

interface Startable {
  readonly definition: PlaybookDefinition;
}

/**
 * Returns the playbook whose keywords occur in a text as whole words or phrases, regardless of case
 * and accents. `when` is left to the model.
 */
export function playbookByKeywords<P extends Startable>(
  playbooks: readonly P[],
  text: string,
): P | undefined {
  const words = normalizedWords(text.slice(0, maxRead));
  return byPriority(playbooks).find(({ definition: { trigger } }) =>
    trigger.keywords?.some((keyword) => containsPhrase(words, normalizedWords(keyword))),
  );
}

/** Returns the playbook that an intent starts. */
export function playbookByIntent<P extends Startable>(
  playbooks: readonly P[],
  intent: string,
): P | undefined {
  return byPriority(playbooks).find(({ definition: { trigger } }) =>
    trigger.intents?.includes(intent),
  );
}

/** If the triggers of several playbooks match, the highest priority wins, then the first. */
function byPriority<P extends Startable>(playbooks: readonly P[]): readonly P[] {
  return playbooks.toSorted(
    (a, b) => b.definition.trigger.priority - a.definition.trigger.priority,
  );
}
