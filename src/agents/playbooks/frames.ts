/**
 * Frames: a conversation's position in its playbooks, innermost last. Also the types of a step's
 * input and outcome.
 */
import { type AnswerContext, type SlotValue, validValue } from "./slots.ts";
import type { PlaybookStep } from "./step-types.ts";
import type { Frame, PinnedPlaybook, PlaybookDefinition } from "./types.ts";
import type { PlaybookStepOutcome } from "../runs/step-types.ts";
import type { ModelFailure } from "../runs/moves.ts";
import type { PlaybookId } from "../../kernel/index.ts";
import type { Json } from "../../ports/index.ts";

/**
 * Finds a version of a playbook. Without a revision, finds the current version if the playbook is
 * enabled.
 */
export type Library = (id: PlaybookId, revision?: number) => PinnedPlaybook | undefined;

/** The maximum depth of nested playbook calls. */
export const maxFrames = 8;

/**
 * Returns a frame at the playbook's first step. Given values that the slots cannot hold are
 * dropped.
 */
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
    visited: [],
    slots: slotsFrom(definition, given, context),
  };
}

/** Returns the given values that the playbook's slots can hold. */
export function slotsFrom(
  { slots }: PlaybookDefinition,
  given: { readonly [name: string]: Json },
  context: AnswerContext,
): Record<string, SlotValue> {
  const entries = slots.flatMap((slot) => {
    const value = validValue(
      slot,
      Object.hasOwn(given, slot.name) ? (given[slot.name] ?? null) : null,
      context,
    );
    return value === undefined ? [] : [[slot.name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Returns the frame's playbook in the version that the frame started with. */
export function frameDefinition(frame: Frame, library: Library): PlaybookDefinition | undefined {
  return library(frame.playbook_id, frame.revision)?.definition;
}

export function stepOf(
  frame: Frame,
  definition: PlaybookDefinition | undefined,
): PlaybookStep | undefined {
  return definition?.steps.find(({ id }) => id === frame.step);
}

/** Returns the id of the step that follows by default; undefined at the end. */
export function nextOf({ steps }: PlaybookDefinition, step: PlaybookStep): string | undefined {
  return ("next" in step ? step.next : undefined) ?? steps[steps.indexOf(step) + 1]?.id;
}

/**
 * Moves the innermost frame to another step. Without one, the frame ends and its caller continues.
 * The caller takes over the values of slots that both have.
 */
export function moveToStep(
  below: readonly Frame[],
  frame: Frame,
  to: string | undefined,
  library: Library,
  context: AnswerContext,
): readonly Frame[] {
  if (to !== undefined) {
    const { input: _, ...others } = frame;
    return [...below, { ...others, step: to, asked: false, tries: 0 }];
  }
  const caller = below.at(-1);
  const definition = caller && frameDefinition(caller, library);
  const step = caller && stepOf(caller, definition);
  if (caller === undefined || definition === undefined || step === undefined) return below;
  const slots = { ...caller.slots, ...slotsFrom(definition, frame.slots, context) };
  return moveToStep(
    below.slice(0, -1),
    { ...caller, slots },
    nextOf(definition, step),
    library,
    context,
  );
}

export interface PlayOptions extends AnswerContext {
  /** Maximum steps per turn. */
  readonly steps: number;
  readonly contact: AnswerContext["contact"] & { readonly name: string | null };
  /**
   * Whether a failure of the model ends the playbook. Otherwise it continues without the model's
   * answer.
   */
  readonly stopsOn: (failure: ModelFailure) => boolean;
  /** Whether a model may put these words into a slot, which playbooks send. */
  readonly mayFillSlot: (words: string) => boolean;
}

export type PlayEnd =
  /**
   * `understood` is false if the contact's answer was invalid. The last text then repeats the
   * question, and the try is counted in the frame.
   */
  | { readonly type: "asks"; readonly understood: boolean }
  | { readonly type: "over" }
  | { readonly type: "called_off" }
  /** An action needs an approval. When the step is played again, it asks for the same action. */
  | { readonly type: "waits" }
  | { readonly type: "handoff"; readonly reason: string; readonly slots: Frame["slots"] }
  | { readonly type: "resolved" }
  | {
      readonly type: "stuck";
      readonly cause: "failed_attempts" | "max_turns" | "action_failure" | ModelFailure;
      readonly reason: string;
    };

/** What a step works with. */
export interface Stage {
  readonly frame: Frame;
  readonly definition: PlaybookDefinition;
  /** The contact's message, for the step that has asked. Null if none is to be answered. */
  readonly contactText: string | null;
  /** Steps append the texts for the contact. */
  readonly texts: string[];
  readonly options: PlayOptions;
}

type Changes = Partial<Pick<Frame, "asked" | "tries" | "visited" | "slots" | "input">>;

/** Why a step ended, as the run records it. */
export interface StepExit {
  readonly outcome: PlaybookStepOutcome;
  readonly output?: Json;
  readonly error?: string | null;
}

/** The outcome of a step. */
export type Outcome =
  /** Goes to the named step, or else to the one that follows by default. */
  | {
      readonly go: "next";
      readonly to?: string | undefined;
      readonly changes?: Changes;
      readonly exit: StepExit;
    }
  | { readonly go: "stay"; readonly end: PlayEnd; readonly changes?: Changes }
  | { readonly go: "call"; readonly playbook_id: PlaybookId }
  | { readonly go: "call_off" }
  | { readonly go: "end"; readonly end: PlayEnd };
