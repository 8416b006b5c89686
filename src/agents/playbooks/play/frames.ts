/** Frames: a conversation's position in its playbooks, innermost last. */
import type { MessageId, PlaybookId } from "../../../kernel/index.ts";
import type { Json } from "../../../ports/index.ts";
import type { Slot } from "../slot-types.ts";
import type { PlaybookStep } from "../step-types.ts";
import type { PinnedPlaybook, PlaybookDefinition } from "../types.ts";
import { validValue, type AnswerContext, type SlotValue } from "./slots.ts";
import type { Lookup } from "./template.ts";

/**
 * A conversation's position in a playbook. The frame of a called playbook lies above its caller's
 * frame.
 */
export interface Frame {
  readonly playbook_id: PlaybookId;
  readonly revision: number;
  /** The next step, or the step that waits for the contact's answer or for an approval. */
  readonly step: string;
  /** Whether the step has asked already. */
  readonly asked: boolean;
  /**
   * The first message with the question. Absent if the step has not asked, or if an earlier
   * version of the engine wrote the frame.
   */
  readonly asked_in?: MessageId;
  /** Invalid answers to the step. */
  readonly tries: number;
  /** How many times the contact has answered since the frame began. */
  readonly turns: number;
  /**
   * Steps that asked, or found their slot filled. When the playbook reaches such a step again, it
   * asks even if the slot is filled. So no loop runs without a question.
   */
  readonly visited: readonly string[];
  /** Values by slot name, and outputs of actions by `<step>.<field>`. */
  readonly slots: { readonly [name: string]: Json };
  /**
   * The input of the action whose approval the step waits for. The contact's name may change
   * meanwhile, and the decision is about this input.
   */
  readonly input?: Json;
}

/**
 * Finds a version of a playbook. Without a revision, finds the current version if the playbook is
 * enabled.
 */
export type FindPlaybook = (id: PlaybookId, revision?: number) => PinnedPlaybook | undefined;

/** The maximum number of nested playbooks, including the first. */
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
  const values = new Map(Object.entries(given));
  const entries = slots.flatMap((slot) => {
    const value = validValue(slot, values.get(slot.name) ?? null, context);
    return value === undefined ? [] : [[slot.name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Returns the frame's playbook in the version that the frame started with. */
export function frameDefinition(
  frame: Frame,
  findPlaybook: FindPlaybook,
): PlaybookDefinition | undefined {
  return findPlaybook(frame.playbook_id, frame.revision)?.definition;
}

export function stepOf(
  frame: Frame,
  definition: PlaybookDefinition | undefined,
): PlaybookStep | undefined {
  return definition?.steps.find(({ id }) => id === frame.step);
}

/** Returns how a template or a condition finds the value of a name. */
export function lookUpIn({ slots }: Frame, contact: { readonly name: string | null }): Lookup {
  return (name) => {
    if (name === "contact.name") return contact.name ?? undefined;
    return Object.hasOwn(slots, name) ? slots[name] : undefined;
  };
}

/**
 * Returns the frames with the message that contains the question of the innermost one. Changes
 * nothing if its step has not asked, or if its message is known already.
 */
export function askedIn(frames: readonly Frame[], message_id: MessageId): readonly Frame[] {
  const frame = frames.at(-1);
  if (frame?.asked !== true || frame.asked_in !== undefined) return frames;
  return [...frames.slice(0, -1), { ...frame, asked_in: message_id }];
}

/**
 * Returns the frames as if the step of the innermost one had not asked, because the message with
 * its question will never be sent.
 */
export function notAsked(frames: readonly Frame[]): readonly Frame[] {
  const frame = frames.at(-1);
  if (frame === undefined) return frames;
  const { asked_in: _, ...others } = frame;
  return [...frames.slice(0, -1), { ...others, asked: false }];
}

/** Returns the slot whose question waits for the contact's answer, if there is one. */
export function askedSlot(frames: readonly Frame[], findPlaybook: FindPlaybook): Slot | undefined {
  const frame = frames.at(-1);
  if (frame?.asked !== true) return undefined;
  const definition = frameDefinition(frame, findPlaybook);
  const step = stepOf(frame, definition);
  if (step?.type !== "ask") return undefined;
  return definition?.slots.find(({ name }) => name === step.slot);
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
  context: AnswerContext & { readonly findPlaybook: FindPlaybook },
): readonly Frame[] {
  if (to !== undefined) {
    const { input: _, asked_in: _askedIn, ...others } = frame;
    return [...below, { ...others, step: to, asked: false, tries: 0 }];
  }
  const caller = below.at(-1);
  const definition = caller && frameDefinition(caller, context.findPlaybook);
  const step = caller && stepOf(caller, definition);
  if (caller === undefined || definition === undefined || step === undefined) return below;
  const slots = { ...caller.slots, ...slotsFrom(definition, frame.slots, context) };
  return moveToStep(below.slice(0, -1), { ...caller, slots }, nextOf(definition, step), context);
}
