import {
  defaultRetries,
  type CreatePlaybook,
  type PlaybookDefinition,
  type UpdatePlaybook,
} from "./types.ts";

/** Of an account in a mode. */
export const mostPlaybooks = 500;

/** What a playbook is that was given so, with what was left out. */
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

/** What it comes to by a change: what is absent stays, null takes away. */
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
