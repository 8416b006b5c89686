import { definedFields, playbookId } from "../../kernel/index.ts";
import { withChanges } from "../changes.ts";
import type { CreatePlaybook, UpdatePlaybook } from "./input-types.ts";
import { defaultRetries, type PlaybookStep, type PlaybookStepInput } from "./step-types.ts";
import type { PlaybookDefinition } from "./types.ts";

/** Returns the definition of a new playbook, with defaults. */
export function playbookDefinitionOf(given: CreatePlaybook): PlaybookDefinition {
  const { name, description = "", trigger = {}, slots = [], steps, on_cancel, max_turns } = given;
  const { keywords, intents, when, priority = 0 } = trigger;
  return {
    name,
    description,
    trigger: {
      ...definedFields({ keywords, intents, when }),
      priority,
    },
    slots: [...slots],
    steps: steps.map(withDefaults),
    ...(on_cancel !== undefined && { on_cancel }),
    ...(max_turns !== undefined && { max_turns }),
  };
}

function withDefaults(step: PlaybookStepInput): PlaybookStep {
  if (step.type === "ask") return { ...step, retries: step.retries ?? defaultRetries };
  if (step.type === "call") return { ...step, playbook_id: playbookId(step.playbook_id) };
  return step;
}

/** Applies a change. Absent fields keep their values. Null removes a field. */
export function changedDefinition(
  before: PlaybookDefinition,
  { enabled: _, ...changes }: UpdatePlaybook,
): PlaybookDefinition {
  return playbookDefinitionOf(withChanges<Omit<CreatePlaybook, "enabled">>(before, changes));
}
