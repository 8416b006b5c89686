/** The data of a turn: what it starts with, what it is decided by, and its outcome. */
import type { SentimentLabel } from "../../contacts/index.ts";
import type { ConversationRow } from "../../conversations/index.ts";
import type { Channel, PlaybookId } from "../../kernel/index.ts";
import type { Json, Language, ModelAnswer, ModelMessage, Seen } from "../../ports/index.ts";
import type { Handoff } from "../handling/hand-off.ts";
import type { FindPlaybook, Frame } from "../playbooks/play/frames.ts";
import type { PinnedPlaybook } from "../playbooks/types.ts";
import type { AgentSessionRow } from "../rows.ts";
import type { RunRow } from "../runs/rows.ts";
import type { RunStep } from "../runs/step-types.ts";
import type { ActionCall, RunRequest } from "../runs/types.ts";
import type { AgentDefinition } from "../types.ts";

/** A run that an agent can work on. */
export interface FoundTurn {
  readonly run: Seen<RunRow>;
  readonly conversation: Seen<ConversationRow>;
  /** Null for a single action from a trigger. */
  readonly session: Seen<AgentSessionRow> | null;
  readonly agent: AgentDefinition;
}

/** A run that an agent works on now. */
export interface BegunTurn extends FoundTurn {
  /** When the lease of the turn ends, in milliseconds since the epoch. */
  readonly leased_until: number;
}

/** What a run has done so far. */
export interface Progress {
  readonly steps: readonly RunStep[];
  readonly calls: readonly ActionCall[];
  /**
   * The lowest of the numbers that the messages in the histories of its turns got when they were
   * written. Null if they had none.
   */
  readonly read_from: number | null;
  /** Model usage. */
  readonly usage: Pick<RunRow, "input_tokens" | "output_tokens" | "model_calls">;
}

/** The outcome of a turn. It commits as a whole or not at all. */
export interface TurnOutcome extends Progress {
  /** The reply to the contact. Null means none. */
  readonly text: string | null;
  readonly handoff: Handoff | null;
  /** Whether the run failed: what was triggered could not be done. */
  readonly isFailed: boolean;
  /** Whether the turn closes the conversation. */
  readonly closes: boolean;
  readonly frames: readonly Frame[];
  /** The playbook that the turn played. */
  readonly playbook_id: PlaybookId | null;
  /** Whether that playbook waits for an approval. */
  readonly playbookWaits: boolean;
  /** Whether the turn counts as a failed attempt. */
  readonly isFailedAttempt: boolean;
  readonly observations: readonly NewObservation[];
  /** Who made the observations. */
  readonly source: "rule" | "model";
  readonly result: Json;
}

/** An observation about the contact, as a model makes it. */
export type NewObservation = NonNullable<ModelAnswer["observations"]>[number];

/** The recent messages of a conversation. */
export interface MessageHistory {
  /**
   * Oldest first: at most 30 messages with 12,000 characters in total. The unanswered messages are
   * chosen first, then the latest others.
   */
  readonly messages: readonly ModelMessage[];
  /** The lowest of the numbers that they got when they were written. Null if there are none. */
  readonly firstSequence: number | null;
  readonly unanswered: number;
  /** How many of the messages, at the end, the loop guard counts. */
  readonly guarded: number;
}

/**
 * Everything that decides a turn. A turn that runs again after a crash gets the same facts, plus
 * what has arrived since.
 */
export interface TurnFacts {
  readonly agent: AgentDefinition;
  readonly session: Pick<AgentSessionRow, "frames" | "turns" | "tokens" | "failed_attempts">;
  readonly channel: Channel;
  /** Reads and writes the texts that depend on a language. */
  readonly language: Language;
  readonly contact: {
    readonly name: string | null;
    readonly phone: string | null;
    readonly language: string | null;
    /** The contact's time zone, or else the account's. The runtime knows it. */
    readonly time_zone: string;
    readonly sentiment: { readonly label: SentimentLabel; readonly score: number } | null;
  };
  readonly history: MessageHistory;
  /** The unanswered messages, joined. */
  readonly contactText: string;
  /**
   * When the contact wrote the last of them, or now if the run answers none. Days such as
   * "tomorrow" count from then. The turn may be much later, for example after a hand-back.
   */
  readonly writtenAt: number;
  /** The lowest sentiment score of the unanswered messages. Null if none was scored. */
  readonly lowestScore: number | null;
  /** Whether the contact may want to opt out. */
  readonly suspectsOptOut: boolean;
  readonly observations: readonly string[];
  /** The playbooks that the turn may start. */
  readonly playbooks: readonly PinnedPlaybook[];
  readonly findPlaybook: FindPlaybook;
  /** What an API trigger asked for. Null if the run was not triggered. */
  readonly request: RunRequest | null;
  /** Whether the run continues after a decision about an action. */
  readonly isResumed: boolean;
  /** Whether the conversation's playbook has waited for this run. */
  readonly isAwaited: boolean;
  /**
   * Whether a playbook waits for an approval, or for its question to be sent. Messages in the
   * meantime do not answer the playbook.
   */
  readonly isPaused: boolean;
  readonly now: number;
}
