import type { Json } from "../../ports/index.ts";
import { think } from "../runs/rules.ts";
import type { ModelFailure, Moves } from "../runs/types.ts";
import { allowed, isPlain, readAnswer, soundValue, type SlotValue } from "./slots.ts";
import type { Outcome, PlayOptions, Stage } from "./stage.ts";
import { render, type LookUp } from "./template.ts";
import type { PlaybookStep, Slot } from "./types.ts";

/** A question: it is put where the slot is empty, and waits for an answer that the slot can hold. */
export function* takeAsk(
  step: Extract<PlaybookStep, { type: "ask" }>,
  { frame, definition, said, texts, options }: Stage,
  look: LookUp,
): Moves<Outcome> {
  const slot = definition.slots.find(({ name }) => name === step.slot);
  if (slot === undefined) {
    return {
      go: "end",
      end: { type: "stuck", cause: "guardrail", reason: `There is no slot "${step.slot}".` },
    };
  }
  const question = render(slot.prompt, look, options.language);
  const passed = [...new Set([...frame.passed, step.id])];
  const answered = (value: Json, to?: string): Outcome => ({
    go: "next",
    to,
    changes: { passed, slots: { ...frame.slots, [slot.name]: value } },
  });

  if (!frame.asked || said === null) {
    const isFilled = (look(slot.name) ?? null) !== null;
    // Come to again, it asks again: or a way back to it might go round for ever.
    if (!frame.asked && isFilled && !frame.passed.includes(step.id)) {
      return { go: "next", changes: { passed } };
    }
    texts.push(question);
    return { go: "stay", end: { type: "asks", understood: true }, changes: { asked: true } };
  }
  // An option that is called so is chosen, and nothing called off.
  if (
    options.language.isCancellation(said) &&
    (slot.enum === undefined || readAnswer(slot, said, options) === undefined)
  ) {
    return { go: "call_off" };
  }
  const { value, failure } = yield* valueIn(said, slot, question, options);
  if (value !== undefined) return answered(value);
  if (failure != null && options.endsAt(failure)) {
    return {
      go: "end",
      end: { type: "stuck", cause: failure, reason: "The model did not look for an answer." },
    };
  }
  const tries = frame.tries + 1;
  if (tries <= step.retries) {
    texts.push(question);
    return { go: "stay", end: { type: "asks", understood: false }, changes: { tries } };
  }
  if (step.on_fail !== undefined || !slot.required) return answered(null, step.on_fail);
  const reason = `No answer to "${slot.name}" was of use.`;
  return { go: "end", end: { type: "stuck", cause: "failed_attempts", reason } };
}

interface Found {
  /** Null where the contact left out what may be left out. */
  readonly value: SlotValue | null | undefined;
  /** Of a model that was asked. */
  readonly failure?: ModelFailure | null;
}

/** What the contact said to a question. The model is asked last. */
function* valueIn(said: string, slot: Slot, question: string, options: PlayOptions): Moves<Found> {
  const isLeftOut = !slot.required && options.language.isSkip(said);
  if (isPlain(slot)) return { value: isLeftOut ? null : readAnswer(slot, said, options) };
  const value = readAnswer(slot, said, options) ?? (isLeftOut ? null : undefined);
  if (value !== undefined) return { value };
  const { name, type, enum: choices } = slot;
  const { answer, failure } = yield* think({
    type: "extract",
    slot: { name, type, enum: choices, prompt: question },
  });
  const found = allowed([slot], answer?.slots ?? {}, options.mayHold);
  const given = Object.hasOwn(found, name) ? (found[name] ?? null) : null;
  return { value: soundValue(slot, given, options), failure };
}
