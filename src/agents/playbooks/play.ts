/**
 * Plays playbooks: a generator without side effects that goes from step to step until it waits for
 * the contact or an approval, or ends. It yields moves for everything else, so after a crash it can
 * run again with the recorded results.
 */
import type { TurnMoves } from "../runs/types.ts";
import {
  beginFrame,
  frameDefinition,
  type Library,
  maxFrames,
  nextOf,
  moveToStep,
  type PlayEnd,
  type PlayOptions,
  stepOf,
} from "./frames.ts";
import { takeStep } from "./steps.ts";
import type { Frame } from "./types.ts";

export { beginFrame, type Library, type PlayEnd, type PlayOptions };

export interface Played {
  /** Texts for the contact, in order. Not yet shortened to fit a message. */
  readonly texts: readonly string[];
  /** Innermost last. Empty unless the playbook asks or waits. */
  readonly frames: readonly Frame[];
  readonly end: PlayEnd;
}

/**
 * Continues from the frames. `said` is the contact's message. It is null when a playbook starts and
 * when it continues after an approval. Only a step that has asked reads it as an answer.
 */
export function* play(
  frames: readonly Frame[],
  contactText: string | null,
  library: Library,
  options: PlayOptions,
): TurnMoves<Played> {
  const texts: string[] = [];
  const ended = (end: PlayEnd, frames: readonly Frame[] = []): Played => ({ texts, frames, end });
  const guarded = (reason: string): Played => ended({ type: "stuck", cause: "guardrail", reason });

  let stack =
    contactText === null ? frames : frames.map((frame) => ({ ...frame, turns: frame.turns + 1 }));
  if (stack.some((frame) => exceedsTurns(frame, library))) {
    return ended({
      type: "stuck",
      cause: "max_turns",
      reason: "The playbook exceeded its max_turns.",
    });
  }
  for (let taken = 0; ; taken++) {
    const frame = stack.at(-1);
    if (frame === undefined) return ended({ type: "over" });
    if (taken >= options.steps) return guarded("The playbook exceeded the step limit of a turn.");
    const definition = frameDefinition(frame, library);
    const step = stepOf(frame, definition);
    if (definition === undefined || step === undefined) {
      return guarded(`The playbook has no step "${frame.step}".`);
    }
    const below = stack.slice(0, -1);
    const outcome = yield* takeStep(step, { frame, definition, contactText, texts, options });
    switch (outcome.go) {
      case "next": {
        const to = outcome.to ?? nextOf(definition, step);
        stack = moveToStep(below, { ...frame, ...outcome.changes }, to, library, options);
        break;
      }
      case "call": {
        const called = library(outcome.playbook_id);
        if (called === undefined) {
          return guarded("The called playbook was deleted or disabled.");
        }
        if (stack.length >= maxFrames) {
          return guarded("Calls of playbooks are nested too deep.");
        }
        stack = [...stack, beginFrame(called, frame.slots, options)];
        break;
      }
      case "call_off": {
        const remaining = callOff(stack, library, options);
        if (remaining === undefined) return ended({ type: "called_off" });
        stack = remaining;
        break;
      }
      case "stay":
        return ended(outcome.end, [...below, { ...frame, ...outcome.changes }]);
      case "end":
        return ended(outcome.end);
    }
  }
}

function exceedsTurns(frame: Frame, library: Library): boolean {
  return frame.turns > (frameDefinition(frame, library)?.max_turns ?? Infinity);
}

/**
 * Ends the innermost frames up to one with `on_cancel`, which continues there. Returns undefined
 * when no frame has it.
 */
function callOff(
  stack: readonly Frame[],
  library: Library,
  options: PlayOptions,
): readonly Frame[] | undefined {
  const cancelStep = (frame: Frame): string | undefined =>
    frameDefinition(frame, library)?.on_cancel;
  const place = stack.findLastIndex((frame) => cancelStep(frame) !== undefined);
  const frame = stack[place];
  if (frame === undefined) return undefined;
  return moveToStep(stack.slice(0, place), frame, cancelStep(frame), library, options);
}
