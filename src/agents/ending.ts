import type { TurnOutcome } from "./turn-rows.ts";
import type { HandoffCause } from "./types.ts";

/** Why people take over. */
export interface HandOff {
  /** Null where no rule asks for it: a playbook or the model does. */
  readonly rule: HandoffCause | null;
  readonly reason: string;
  /** What a model or a playbook has to say about it. */
  readonly summary: string | null;
  /** The contact is told nothing: whoever is there may be a machine, or want no more messages. */
  readonly isSilent: boolean;
}

/** How a turn ends, as it sees it itself. */
export interface Ending extends Omit<
  TurnOutcome,
  "source" | "handOff" | "steps" | "calls" | "usage"
> {
  readonly handOff: HandOff | null;
}
