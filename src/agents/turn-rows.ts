/** What the transactions of a turn tell each other. */
import type { AgentSessionRow } from "./rows.ts";
import type { AgentDefinition, HandoffCause } from "./types.ts";
import type { ConversationRow } from "../conversations/index.ts";
import type { Frame } from "./playbooks/types.ts";
import type { RunRow } from "./runs/rows.ts";
import type { ActionCall, RunStep } from "./runs/types.ts";
import type { PlaybookId } from "../kernel/index.ts";
import type { Services } from "../operations/index.ts";
import type { HostOpinions, Json, Seen } from "../ports/index.ts";

/** A run that an agent is to work on now. */
export interface BegunTurn {
  readonly run: Seen<RunRow>;
  readonly conversation: Seen<ConversationRow>;
  /** Null for an action that was ordered by itself. */
  readonly session: Seen<AgentSessionRow> | null;
  readonly agent: AgentDefinition;
}

export interface TurnContext {
  readonly leaseMs: number;
  readonly services: Services;
}

/** What was done in a run so far. */
export interface Progress {
  readonly steps: readonly RunStep[];
  readonly calls: readonly ActionCall[];
  /** What models took. */
  readonly usage: Pick<RunRow, "input_tokens" | "output_tokens" | "model_calls">;
}

/** How a turn came out. It commits as a whole or not at all. */
export interface TurnOutcome extends Progress {
  /** What the contact is told; null: nothing. */
  readonly text: string | null;
  readonly handOff: {
    readonly rule: HandoffCause | null;
    readonly reason: string;
    readonly summary: string;
  } | null;
  /** The conversation is closed with it. */
  readonly closes: boolean;
  readonly frames: readonly Frame[];
  /** The playbook that it went by. */
  readonly playbook_id: PlaybookId | null;
  /** That waits for somebody to approve an action. */
  readonly isWaiting: boolean;
  /** It did not get anywhere. */
  readonly isStuck: boolean;
  readonly noticed: readonly Noticed[];
  /** What noticed it. */
  readonly source: "rule" | "model";
  readonly result: Json;
}

/** What a model noticed about the contact. */
export interface Noticed {
  readonly content: string;
  readonly kind: string;
  readonly confidence: number | null;
}

export interface JudgedTurn extends TurnContext {
  readonly hostOpinions: HostOpinions;
}
