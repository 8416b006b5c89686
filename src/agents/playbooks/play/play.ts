/**
 * Plays playbooks: a generator without side effects that goes from step to step until it waits for
 * the contact or an approval, or ends. It yields moves for everything else, so after a crash it can
 * run again with the recorded results.
 */
import type { TurnMoves } from "../../moves.ts";
import {
  beginFrame,
  frameDefinition,
  lookUpIn,
  maxFrames,
  moveToStep,
  nextOf,
  stepOf,
  type Frame,
} from "./frames.ts";
import type { PlayEnd, PlayOptions, StepContext, StepExit } from "./play-types.ts";
import { takeStep } from "./steps.ts";

export interface Played {
  /** Texts for the contact, in order. Not yet shortened to fit a message. */
  readonly texts: readonly string[];
  /** Innermost last. Empty unless the playbook asks or waits. */
  readonly frames: readonly Frame[];
  readonly end: PlayEnd;
}

/**
 * Continues from the frames. `contactText` is the contact's message. It is null when a playbook
 * starts and when it continues after an approval. Only a step that has asked reads it as an answer.
 */
export function* play(
  frames: readonly Frame[],
  contactText: string | null,
  options: PlayOptions,
): TurnMoves<Played> {
  const texts: string[] = [];
  const isAnswer = contactText !== null && frames.at(-1)?.asked === true;
  let stack = isAnswer ? frames.map((frame) => ({ ...frame, turns: frame.turns + 1 })) : frames;
  yield* enter(stack);
  if (stack.some((frame) => exceedsTurns(frame, options))) {
    const reason = "The playbook exceeded its max_turns.";
    return yield* finish(stack, { end: { type: "stuck", cause: "max_turns", reason } }, texts);
  }
  for (let taken = 0; ; taken++) {
    const frame = stack.at(-1);
    if (frame === undefined) return { texts, frames: [], end: { type: "over" } };
    const after =
      taken < options.maxSteps
        ? yield* advance(stack, frame, { contactText, texts, options })
        : stopped("The playbook exceeded the step limit of a turn.", "limit");
    if ("end" in after) return yield* finish(stack, after, texts);
    stack = after.stack;
  }
}

/** What a step leads to: other frames, innermost last, or the end of the turn. */
type AfterStep = { readonly stack: readonly Frame[] } | TurnEnd;

interface TurnEnd {
  readonly end: PlayEnd;
  /** Why the innermost step is left. By default, `end` tells it. */
  readonly exit?: StepExit;
  /** The frames that stay, if the innermost step asks or waits. */
  readonly frames?: readonly Frame[];
}

function* finish(
  stack: readonly Frame[],
  { end, exit = exitOf(end), frames }: TurnEnd,
  texts: readonly string[],
): TurnMoves<Played> {
  const outer: StepExit = { outcome: frames === undefined ? exit.outcome : "called" };
  yield* leaveInner(stack.length, exit, outer);
  return { texts, frames: frames ?? [], end };
}

const stopped = (reason: string, outcome: "limit" | "failed"): TurnEnd => ({
  end: { type: "stuck", cause: "guardrail", reason },
  exit: { outcome, error: reason },
});

/** Takes the step of the innermost frame. */
function* advance(
  stack: readonly Frame[],
  frame: Frame,
  context: Pick<StepContext, "contactText" | "texts" | "options">,
): TurnMoves<AfterStep> {
  const { options } = context;
  const definition = frameDefinition(frame, options.findPlaybook);
  const step = stepOf(frame, definition);
  if (definition === undefined || step === undefined) {
    return stopped(`The playbook has no step "${frame.step}".`, "failed");
  }
  const below = stack.slice(0, -1);
  const lookUp = lookUpIn(frame, options.contact);
  const outcome = yield* takeStep(step, { ...context, frame, definition, lookUp });
  switch (outcome.go) {
    case "next": {
      const to = outcome.to ?? nextOf(definition, step);
      const changed = { ...frame, ...outcome.changes };
      const moved = moveToStep(below, changed, to, options);
      yield* moveOn(stack, moved, outcome.exit);
      return { stack: moved };
    }
    case "call": {
      const called = options.findPlaybook(outcome.playbook_id);
      if (called === undefined) {
        return stopped("The called playbook was deleted or disabled.", "failed");
      }
      if (stack.length >= maxFrames) {
        return stopped("Calls of playbooks are nested too deep.", "limit");
      }
      const begun = beginFrame(called, frame.slots, options);
      yield* enter([begun]);
      return { stack: [...stack, begun] };
    }
    case "cancel": {
      const remaining = cancel(stack, options);
      if (remaining === undefined) return { end: { type: "canceled" } };
      yield* moveOn(stack, remaining, { outcome: "canceled" });
      return { stack: remaining };
    }
    case "stay":
      return { end: outcome.end, frames: [...below, { ...frame, ...outcome.changes }] };
    case "end":
      return { end: outcome.end };
  }
}

/** Notes that the steps of frames are entered, outermost first. */
function* enter(frames: readonly Frame[]): TurnMoves<void> {
  for (const { playbook_id, revision, step } of frames) {
    yield { do: "enter", playbook_id, revision, step };
  }
}

/** Notes that the innermost step that was entered is left. */
function* leave(
  { outcome, output = null, error = null }: StepExit,
  next: string | null,
): TurnMoves<void> {
  yield { do: "leave", outcome, next, output, error };
}

/**
 * Notes that the innermost step is left for another one. Calling steps whose playbook ended thereby
 * are left too.
 */
function* moveOn(
  before: readonly Frame[],
  after: readonly Frame[],
  exit: StepExit,
): TurnMoves<void> {
  const moved = after.at(-1);
  const ended = before.length - after.length;
  const outer: StepExit = { outcome: exit.outcome === "canceled" ? "canceled" : "done" };
  yield* leaveInner(ended, exit, outer);
  if (moved === undefined) return;
  yield* leave(ended === 0 ? exit : outer, moved.step);
  yield* enter([moved]);
}

/**
 * Leaves so many of the innermost steps, which nothing follows in this turn: the innermost for
 * `exit`, and the steps that called it for `outer`.
 */
function* leaveInner(count: number, exit: StepExit, outer: StepExit): TurnMoves<void> {
  for (let place = 0; place < count; place++) yield* leave(place === 0 ? exit : outer, null);
}

/** Returns why the last step was left. */
function exitOf(end: PlayEnd): StepExit {
  switch (end.type) {
    case "asks":
      return { outcome: end.understood ? "asked" : "asked_again" };
    case "waits":
      return { outcome: "awaiting_approval" };
    case "over":
      return { outcome: "done" };
    case "canceled":
      return { outcome: "canceled" };
    case "handoff":
      return { outcome: "handed_off" };
    case "resolved":
      return { outcome: "resolved" };
    case "stuck": {
      const isLimit = end.cause === "max_turns" || end.cause === "failed_attempts";
      return { outcome: isLimit ? "limit" : "failed", error: end.reason };
    }
  }
}

function exceedsTurns(frame: Frame, { findPlaybook }: PlayOptions): boolean {
  return frame.turns > (frameDefinition(frame, findPlaybook)?.max_turns ?? Infinity);
}

/**
 * Ends the innermost frames up to one with `on_cancel`, which continues there. Returns undefined
 * when no frame has it.
 */
function cancel(stack: readonly Frame[], options: PlayOptions): readonly Frame[] | undefined {
  const cancelStep = (frame: Frame): string | undefined =>
    frameDefinition(frame, options.findPlaybook)?.on_cancel;
  const place = stack.findLastIndex((frame) => cancelStep(frame) !== undefined);
  const frame = stack[place];
  if (frame === undefined) return undefined;
  return moveToStep(stack.slice(0, place), frame, cancelStep(frame), options);
}
