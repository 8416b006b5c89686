/** Where a conversation stands in its playbooks: frames, the innermost last. */
import type { PlaybookId } from "../../kernel/index.ts";
import type { Json } from "../../ports/index.ts";
import { soundValue, type AnswerContext, type SlotValue } from "./slots.ts";
import type { Frame, PinnedPlaybook, PlaybookDefinition, PlaybookStep } from "./types.ts";

/** Finds a playbook: one version of it, or without one the current version where it is enabled. */
export type Library = (id: PlaybookId, revision?: number) => PinnedPlaybook | undefined;

/** Playbooks that lie on top of one another, at most. */
export const mostFrames = 8;

/** A playbook at its first step. Of what is given it takes what its slots can hold. */
export function beginFrame(
  { id, revision, definition }: PinnedPlaybook,
  given: { readonly [name: string]: Json },
  context: AnswerContext,
): Frame {
  return {
    playbook_id: id,
    revision,
    step: definition.steps[0]?.id ?? "",
    asked: false,
    tries: 0,
    turns: 0,
    passed: [],
    slots: slotsFrom(definition, given, context),
  };
}

/** What of some values a playbook's slots can hold. */
export function slotsFrom(
  { slots }: PlaybookDefinition,
  given: { readonly [name: string]: Json },
  context: AnswerContext,
): Record<string, SlotValue> {
  const entries = slots.flatMap((slot) => {
    const value = soundValue(
      slot,
      Object.hasOwn(given, slot.name) ? (given[slot.name] ?? null) : null,
      context,
    );
    return value === undefined ? [] : [[slot.name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** The frame's playbook, in the version that it began with. */
export function frameDefinition(frame: Frame, library: Library): PlaybookDefinition | undefined {
  return library(frame.playbook_id, frame.revision)?.definition;
}

export function stepOf(
  frame: Frame,
  definition: PlaybookDefinition | undefined,
): PlaybookStep | undefined {
  return definition?.steps.find(({ id }) => id === frame.step);
}

/** The step that follows where a step doesn't say otherwise; undefined at the end. */
export function nextOf({ steps }: PlaybookDefinition, step: PlaybookStep): string | undefined {
  return ("next" in step ? step.next : undefined) ?? steps[steps.indexOf(step) + 1]?.id;
}

/**
 * The innermost frame, as it is now, goes on to another step. At its end it goes, and its caller goes on with what it found out: values of
 * slots that both have.
 */
export function onward(
  below: readonly Frame[],
  frame: Frame,
  to: string | undefined,
  library: Library,
  context: AnswerContext,
): readonly Frame[] {
  if (to !== undefined) return [...below, { ...frame, step: to, asked: false, tries: 0 }];
  const caller = below.at(-1);
  const definition = caller && frameDefinition(caller, library);
  const step = caller && stepOf(caller, definition);
  if (caller === undefined || definition === undefined || step === undefined) return below;
  const slots = { ...caller.slots, ...slotsFrom(definition, frame.slots, context) };
  return onward(
    below.slice(0, -1),
    { ...caller, slots },
    nextOf(definition, step),
    library,
    context,
  );
}
