import type { AgentSessionRow } from "./rows.ts";
import type { AgentDefinition } from "./types.ts";
import type { Library } from "./playbooks/play.ts";
import type { PinnedPlaybook } from "./playbooks/types.ts";
import type { RunRequest } from "./runs/types.ts";
import type { SentimentLabel } from "../contacts/index.ts";
import type { Json, Language, ModelMessage } from "../ports/index.ts";
import type { Channel } from "../kernel/index.ts";

/** What was heard in a conversation, as far as a turn looks back. */
export interface Heard {
  /** Oldest first: up to 30, of 12,000 characters together. The last ones are those that have no answer yet. */
  readonly messages: readonly ModelMessage[];
  readonly unanswered: number;
}

/** All that a turn is decided by. It stays the same however often the turn is run again, but for what comes in meanwhile. */
export interface TurnFacts {
  readonly agent: AgentDefinition;
  readonly session: Pick<AgentSessionRow, "frames" | "turns" | "tokens" | "failed_attempts">;
  readonly channel: Channel;
  /** Understands what the contact writes. */
  readonly language: Language;
  readonly contact: {
    readonly name: string | null;
    readonly phone: string | null;
    readonly language: string | null;
    readonly time_zone: string | null;
    readonly sentiment: { readonly label: SentimentLabel; readonly score: number } | null;
  };
  readonly heard: Heard;
  /** What the contact wrote since it was last answered, in one. */
  readonly said: string;
  /** The lowest score of what it wrote since; null where none was scored. */
  readonly lowest: number | null;
  /** The contact may want nothing more. */
  readonly suspectsOptOut: boolean;
  readonly observations: readonly string[];
  readonly playbooks: readonly PinnedPlaybook[];
  readonly library: Library;
  /** What an API trigger asked for, instead of an answer. */
  readonly request: RunRequest | null;
  /** It goes on after somebody decided about an action. */
  readonly isResumed: boolean;
  /** The playbook that the conversation is in the middle of has waited for this run. */
  readonly isAwaited: boolean;
  /** The calls that somebody approved and that are yet to be made. */
  readonly approved: readonly { readonly action: string; readonly input: Json }[];
  /** A playbook waits for somebody's decision: what is said meanwhile is no answer to it. */
  readonly isPaused: boolean;
  readonly now: number;
}
