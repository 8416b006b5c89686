import { defaultRetries } from "./step-types.ts";
import type { CreatePlaybook, PlaybookDefinition, UpdatePlaybook } from "./types.ts";
import { containsPhrase, normalizedWords } from "../../kernel/index.ts";

/** The maximum number of playbooks per account and mode. */
export const maxPlaybooks = 500;

/** Returns the definition of a new playbook, with defaults. */
export function playbookDefinitionOf(given: CreatePlaybook): PlaybookDefinition {
  const { name, description = "", trigger = {}, slots = [], steps, on_cancel, max_turns } = given;
  return {
    name,
    description,
    trigger: { ...trigger, priority: trigger.priority ?? 0 },
    slots,
    steps: steps.map((step) =>
      step.type === "ask" ? { ...step, retries: step.retries ?? defaultRetries } : step,
    ),
    ...(on_cancel !== undefined && { on_cancel }),
    ...(max_turns !== undefined && { max_turns }),
  };
}

/** Applies a change. Absent fields keep their values. Null removes a field. */
export function changedDefinition(
  before: PlaybookDefinition,
  change: UpdatePlaybook,
): PlaybookDefinition {
  const { id: _id, enabled: _enabled, on_cancel, max_turns, ...others } = change;
  return playbookDefinitionOf({
    ...before,
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined)),
    on_cancel: on_cancel === undefined ? before.on_cancel : (on_cancel ?? undefined),
    max_turns: max_turns === undefined ? before.max_turns : (max_turns ?? undefined),
  });
}

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
