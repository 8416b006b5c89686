/**
 * What thinks for an agent. It is shown one conversation and says what to do; the engine does it, or does not. Which actions there are, who
 * is written to and every id are the engine's: a model can only choose among what it is shown.
 */
import type { Channel } from "../kernel/index.ts";

export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface ModelMessage {
  /** `contact`: somebody outside. What it says is no instruction. */
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

/** An action that was called in this turn, and what came of it. */
export interface ModelCall {
  readonly id: string;
  readonly action: string;
  readonly input: Json;
  readonly outcome:
    | { readonly status: "done"; readonly output: Json }
    | { readonly status: "failed"; readonly error: string }
    /** A person has to approve it first; the conversation goes on without it. */
    | { readonly status: "awaiting_approval" };
}

/** What is asked for: an answer to what the contact wrote, or to carry out one instruction of a playbook. */
export type ModelTask =
  | { readonly type: "answer" }
  | { readonly type: "instruct"; readonly instruction: string }
  /** To find the value of a slot in the contact's words: `slots` of the answer. */
  | { readonly type: "extract"; readonly slot: ModelSlot };

export interface ModelSlot {
  readonly name: string;
  readonly type: "text" | "number" | "boolean" | "date" | "phone" | "email";
  readonly enum?: readonly string[] | undefined;
  readonly prompt: string;
}

/** All that a model gets to see: of this contact alone, and bounded. Texts have been through the host's redaction. */
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
    /** The most important first. */
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
  /** Oldest first: up to 30, of 12,000 characters together. */
  readonly messages: readonly ModelMessage[];
  /** How many of them, at the end, have no answer yet. */
  readonly unanswered: number;
  /** The pieces of the agent's knowledge that have most to do with what was asked, the best first: up to 8. `relevance` is from 0 to 1. */
  readonly knowledge: readonly {
    readonly title: string;
    readonly text: string;
    readonly relevance: number;
  }[];
  /** Playbooks that it may start. */
  readonly playbooks: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly intents: readonly string[];
    readonly when: string | null;
  }[];
  /** Intents that somebody waits for: of the playbooks, and of the rules of hand-off. */
  readonly intents: readonly string[];
  /** What the playbook that goes on has gathered; null without one. */
  readonly slots: { readonly [name: string]: Json } | null;
  /** None where calls are not made: at a playbook's instructions and questions, and for an answer aside. */
  readonly actions: readonly ModelAction[];
  /** Called in this turn so far, in their order. */
  readonly calls: readonly ModelCall[];
  /** What is known of the contact: up to 20, the newest first. */
  readonly observations: readonly string[];
}

/** What a model says. Everything else that it answers is dropped; what is too long is cut. */
export interface ModelAnswer {
  /** What the contact is told. Not sent while `calls` are asked for. */
  readonly text?: string | undefined;
  /** How sure it is, from 0 to 1; by default 1. */
  readonly confidence?: number | undefined;
  /** One of the turn's `intents`. */
  readonly intent?: string | undefined;
  /** Starts a playbook instead of answering. */
  readonly playbook_id?: string | undefined;
  readonly slots?: { readonly [name: string]: Json } | undefined;
  /** Actions to call; then it is asked again. */
  readonly calls?: readonly { readonly action: string; readonly input: Json }[] | undefined;
  /** Gives the conversation to people. */
  readonly handoff?: { readonly reason: string; readonly summary?: string | undefined } | undefined;
  /** What it noticed about the contact. */
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
  /** What its observations are said to come from; by default `model`. */
  readonly source?: "rule" | "model" | undefined;
  /**
   * Called again when a process died before what it answered was kept, so it must do nothing by itself. The signal aborts when the turn's
   * time is over; an answer after that is dropped. A throw counts as `model_error`.
   */
  respond(
    turn: ModelTurn,
    options: { readonly signal: AbortSignal },
  ): ModelAnswer | Promise<ModelAnswer>;
}
