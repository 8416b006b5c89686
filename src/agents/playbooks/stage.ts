/** What a step is taken with, and what it comes to. */
import type { PlaybookId } from "../../kernel/index.ts";
import type { ModelFailure } from "../runs/types.ts";
import type { AnswerContext } from "./slots.ts";
import type { Frame, PlaybookDefinition } from "./types.ts";

export interface PlayOptions extends AnswerContext {
  /** Steps that it takes at most in one go. */
  readonly steps: number;
  readonly contact: AnswerContext["contact"] & { readonly name: string | null };
  /** Whether it ends there when a model fails; else it goes on without what the model would have said. */
  readonly endsAt: (failure: ModelFailure) => boolean;
  /** Whether a model may have a slot hold these words: what playbooks say has slots in it. */
  readonly mayHold: (words: string) => boolean;
}

export type PlayEnd =
  /** Not understood: the answer was of no use, and the last text asks again. It has counted as a try. */
  | { readonly type: "asks"; readonly understood: boolean }
  | { readonly type: "over" }
  | { readonly type: "called_off" }
  /** Somebody has to approve an action. Played again its step asks for the same action. */
  | { readonly type: "waits" }
  | { readonly type: "handoff"; readonly reason: string }
  | { readonly type: "resolved" }
  | {
      readonly type: "stuck";
      readonly cause: "failed_attempts" | "max_turns" | "action_failure" | ModelFailure;
      readonly reason: string;
    };

/** What a step is taken with. */
export interface Stage {
  readonly frame: Frame;
  readonly definition: PlaybookDefinition;
  /** What the contact wrote, for the step that has asked. */
  readonly said: string | null;
  /** What the contact is told is put at its end. */
  readonly texts: string[];
  readonly options: PlayOptions;
}

type Changes = Partial<Pick<Frame, "asked" | "tries" | "passed" | "slots">>;

/** What a step comes to. */
export type Outcome =
  /** To the step that is named, or else to the one that follows. */
  | { readonly go: "next"; readonly to?: string | undefined; readonly changes?: Changes }
  | { readonly go: "stay"; readonly end: PlayEnd; readonly changes?: Changes }
  | { readonly go: "call"; readonly playbook_id: PlaybookId }
  | { readonly go: "call_off" }
  | { readonly go: "end"; readonly end: PlayEnd };
