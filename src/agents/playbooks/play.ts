/**
 * Plays playbooks: a pure generator that goes from step to step until it has to wait for the contact or for an approval, or is over. What
 * it needs done it asks for as moves, so it can be run again after a crash and be given what came of them.
 */
import type { Moves } from "../runs/types.ts";
import {
  beginFrame,
  frameDefinition,
  mostFrames,
  nextOf,
  onward,
  stepOf,
  type Library,
} from "./frames.ts";
import type { PlayEnd, PlayOptions } from "./stage.ts";
import { takeStep } from "./steps.ts";
import type { Frame } from "./types.ts";

export { beginFrame, type Library, type PlayEnd, type PlayOptions };

export interface Played {
  /** To tell the contact, in this order. Not yet cut to what a message holds. */
  readonly texts: readonly string[];
  /** The innermost last. Empty unless it asks or waits. */
  readonly frames: readonly Frame[];
  readonly end: PlayEnd;
}

/**
 * Goes on from where the frames stand. `said` is what the contact wrote; null when a playbook begins, and when it goes on after an
 * approval. Only a step that has asked takes it for an answer.
 */
export function* play(
  frames: readonly Frame[],
  said: string | null,
  library: Library,
  options: PlayOptions,
): Moves<Played> {
  const texts: string[] = [];
  const ended = (end: PlayEnd, frames: readonly Frame[] = []): Played => ({ texts, frames, end });
  const guarded = (reason: string): Played => ended({ type: "stuck", cause: "guardrail", reason });

  let stack =
    said === null ? frames : frames.map((frame) => ({ ...frame, turns: frame.turns + 1 }));
  if (
    stack.some((frame) => frame.turns > (frameDefinition(frame, library)?.max_turns ?? Infinity))
  ) {
    return ended({
      type: "stuck",
      cause: "max_turns",
      reason: "The playbook took more turns than it may.",
    });
  }
  for (let taken = 0; ; taken++) {
    const frame = stack.at(-1);
    if (frame === undefined) return ended({ type: "over" });
    if (taken >= options.steps) return guarded("The playbook took more steps than a turn may.");
    const definition = frameDefinition(frame, library);
    const step = stepOf(frame, definition);
    if (definition === undefined || step === undefined) {
      return guarded(`There is no step "${frame.step}" to go on with.`);
    }
    const below = stack.slice(0, -1);
    const outcome = yield* takeStep(step, { frame, definition, said, texts, options });
    switch (outcome.go) {
      case "next": {
        const to = outcome.to ?? nextOf(definition, step);
        stack = onward(below, { ...frame, ...outcome.changes }, to, library, options);
        break;
      }
      case "call": {
        const called = library(outcome.playbook_id);
        if (called === undefined) {
          return guarded("The playbook that is called is gone or disabled.");
        }
        if (stack.length >= mostFrames) {
          return guarded("Too many playbooks have called one another.");
        }
        stack = [...stack, beginFrame(called, frame.slots, options)];
        break;
      }
      case "call_off": {
        // Who called it may know what then; it is over for those that it called.
        const place = stack.findLastIndex(
          (each) => frameDefinition(each, library)?.on_cancel !== undefined,
        );
        const [left] = stack.slice(place);
        if (place === -1 || left === undefined) return ended({ type: "called_off" });
        stack = onward(
          stack.slice(0, place),
          left,
          frameDefinition(left, library)?.on_cancel,
          library,
          options,
        );
        break;
      }
      case "stay":
        return ended(outcome.end, [...below, { ...frame, ...outcome.changes }]);
      case "end":
        return ended(outcome.end);
    }
  }
}
