/**
 * The model of an agent. It sees one conversation and proposes what to do; the engine decides
 * whether to do it. The engine sets the available actions, the recipient and every id. A model can
 * only choose among what it sees.
 */
import type { Channel } from "../kernel/index.ts";

export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface ModelMessage {
  /** Text from `contact` comes from outside and must not be followed as instructions. */
  readonly from: "contact" | "agent" | "human" | "host";
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface ModelAction {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, draft 2020-12. */
  readonly input_schema: { readonly [key: string]: unknown };
}

/** An action called in this turn, with its outcome. */
export interface ModelCall {
  readonly id: string;
  readonly action: string;
  readonly input: Json;
  readonly outcome:
    | { readonly status: "done"; readonly output: Json }
    | { readonly status: "failed"; readonly error: string }
    /** A person must approve the call first. The conversation continues without it. */
    | { readonly status: "awaiting_approval" };
}

/** The task of one call: answer the contact, or carry out one instruction of a playbook. */
export type ModelTask =
  | { readonly type: "answer" }
  | { readonly type: "instruct"; readonly instruction: string }
  /** Find the value of a slot in the contact's messages and return it in `slots`. */
  | { readonly type: "extract"; readonly slot: ModelSlot };

export interface ModelSlot {
  readonly name: string;
  readonly type: "text" | "number" | "boolean" | "date" | "phone" | "email";
  readonly enum?: readonly string[] | undefined;
  readonly prompt: string;
}

/** Everything that a model sees: bounded data of one contact, redacted by the host application. */
export interface ModelTurn {
  readonly task: ModelTask;
  readonly agent: {
    readonly name: string;
    readonly persona: {
      readonly role: string;
      readonly tone?: string | undefined;
      readonly language?: string | undefined;
    };
    readonly instructions: string;
    /** Most important first. */
    readonly guidelines: readonly { readonly when: string; readonly then: string }[];
    readonly reply: { readonly mode: "generated" | "canned_strict"; readonly max_chars: number };
  };
  readonly channel: Channel;
  readonly contact: {
    readonly name: string | null;
    /** BCP 47 tag. */
    readonly language: string | null;
    readonly sentiment: "positive" | "neutral" | "negative" | null;
  };
  /** Up to 30 messages with 12,000 characters in total, oldest first. */
  readonly messages: readonly ModelMessage[];
  /** How many of the last messages have no answer yet. */
  readonly unanswered: number;
  /**
   * The passages of the agent's knowledge that are most relevant to the question: up to 8, best
   * first. `relevance` is from 0 to 1.
   */
  readonly knowledge: readonly {
    readonly title: string;
    readonly text: string;
    readonly relevance: number;
  }[];
  /** Playbooks that the agent may start. */
  readonly playbooks: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly intents: readonly string[];
    readonly when: string | null;
  }[];
  /** Intents that start a playbook or a hand-off. */
  readonly intents: readonly string[];
  /** The slot values collected by the running playbook. Null if no playbook is running. */
  readonly slots: { readonly [name: string]: Json } | null;
  /**
   * Empty when the model may not call actions: for a playbook's instructions and questions, and for
   * an answer given during a playbook.
   */
  readonly actions: readonly ModelAction[];
  /** The calls made in this turn so far, in order. */
  readonly calls: readonly ModelCall[];
  /** Up to 20 observations about the contact, newest first. */
  readonly observations: readonly string[];
}

/** The answer of a model. Unknown fields are ignored, and texts that are too long are truncated. */
export interface ModelAnswer {
  /** The reply to the contact. Not sent if the answer also has `calls`. */
  readonly text?: string | undefined;
  /** How confident the model is, from 0 to 1. Default: 1. */
  readonly confidence?: number | undefined;
  /** One of the `intents` of the turn. */
  readonly intent?: string | undefined;
  /** The playbook to start instead of answering. */
  readonly playbook_id?: string | undefined;
  readonly slots?: { readonly [name: string]: Json } | undefined;
  /** Actions to call. The engine then calls the model again with the outcomes. */
  readonly calls?: readonly { readonly action: string; readonly input: Json }[] | undefined;
  /** Hands the conversation off to a person. */
  readonly handoff?: { readonly reason: string; readonly summary?: string | undefined } | undefined;
  /** New observations about the contact. */
  readonly observations?:
    | readonly {
        readonly content: string;
        readonly kind: string;
        readonly confidence?: number | undefined;
      }[]
    | undefined;
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number } | undefined;
}

export interface AgentModel {
  /** The source recorded with its observations. Default: `model`. */
  readonly source?: "rule" | "model" | undefined;
  /**
   * Must have no side effects, because the engine calls it again if the process ends before the
   * answer is stored. The signal aborts when the turn's time is over, and later answers are
   * ignored. An exception counts as `model_error`.
   */
  respond(
    turn: ModelTurn,
    options: { readonly signal: AbortSignal },
  ): ModelAnswer | Promise<ModelAnswer>;
}
