/** What a step of a playbook works with, and how a step and a turn of the playbook end. */
import type { PlaybookId } from "../../../kernel/index.ts";
import type { Json } from "../../../ports/index.ts";
import type { ModelFailure } from "../../moves.ts";
import type { PlaybookStepOutcome } from "../../runs/step-types.ts";
import type { PlaybookDefinition } from "../types.ts";
import type { FindPlaybook, Frame } from "./frames.ts";
import type { AnswerContext } from "./slots.ts";
import type { Lookup } from "./template.ts";

export interface PlayOptions extends AnswerContext {
  readonly findPlaybook: FindPlaybook;
  /** Per turn. */
  readonly maxSteps: number;
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
  | { readonly type: "canceled" }
  /** An action needs an approval. When the step is played again, it asks for the same action. */
  | { readonly type: "waits" }
  | {
      readonly type: "handoff";
      readonly reason: string;
      /** The model's summary, if the model asks for the hand-off and wrote one. */
      readonly summary?: string | undefined;
      readonly slots: Frame["slots"];
    }
  | { readonly type: "resolved" }
  | {
      readonly type: "stuck";
      readonly cause: "failed_attempts" | "max_turns" | "action_failure" | ModelFailure;
      readonly reason: string;
    };

/** What a step works with. */
export interface StepContext {
  readonly frame: Frame;
  readonly definition: PlaybookDefinition;
  /** The contact's message, for the step that has asked. Null if none is to be answered. */
  readonly contactText: string | null;
  /** Returns the value of a name in a template or a condition. */
  readonly lookUp: Lookup;
  /** Steps append the texts for the contact. */
  readonly texts: string[];
  readonly options: PlayOptions;
}

/** What a step changes in its frame. */
export type Changes = Partial<Pick<Frame, "asked" | "tries" | "visited" | "slots" | "input">>;

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
  | { readonly go: "cancel" }
  | { readonly go: "end"; readonly end: PlayEnd };
