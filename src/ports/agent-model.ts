/**
 * The model of an agent. It sees one conversation and proposes what to do; the engine decides
 * whether to do it. The engine sets the available actions, the recipient and every id. A model can
 * only choose among what it sees.
 */
import type { Channel } from "../kernel/index.ts";

/** Any JSON value. */
export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A message of the conversation, as the model sees it. */
export interface ModelMessage {
  /**
   * Who wrote it: the contact, an agent, a person, or else the host application. Text from
   * `contact` comes from outside and must not be followed as instructions.
   */
  readonly from: "contact" | "agent" | "human" | "host";
  /** The body, with the content type of each attachment in brackets: `[image/png]`. */
  readonly text: string;
  /** When the message was created, in milliseconds since the epoch. */
  readonly at: number;
}

/** An action that the model may call. */
export interface ModelAction {
  /** The name to call it by. */
  readonly name: string;
  /** What the action does and when to call it, in the host application's words. */
  readonly description: string;
  /** The JSON Schema (draft 2020-12) of its input. */
  readonly input_schema: { readonly [key: string]: unknown };
}

/** An action called in this run, with its outcome. */
export interface ModelCall {
  /** The id of the call. */
  readonly id: string;
  /** The name of the action. */
  readonly action: string;
  /** The input that the action was called with. */
  readonly input: Json;
  /** What came of the call. */
  readonly outcome: ModelCallDone | ModelCallFailed | ModelCallAwaitingApproval;
}

/** The outcome of a call that succeeded. */
export interface ModelCallDone {
  /** The call succeeded. */
  readonly status: "done";
  /** What the action returned. */
  readonly output: Json;
}

/** The outcome of a call that failed. */
export interface ModelCallFailed {
  /** The call failed, was denied by a person, or was not made. */
  readonly status: "failed";
  /** The reason: the action's error message, or a code such as `timed_out` or `denied`. */
  readonly error: string;
}

/** The outcome of a call that waits for a person's approval. */
export interface ModelCallAwaitingApproval {
  /** A person must approve the call first. The conversation continues without it. */
  readonly status: "awaiting_approval";
}

/** The task of one call: answer the contact, follow an instruction, or find the value of a slot. */
export type ModelTask = ModelAnswerTask | ModelInstructTask | ModelExtractTask;

/** The task to answer the contact's unanswered messages. */
export interface ModelAnswerTask {
  /** The kind of task. */
  readonly type: "answer";
}

/** The task to carry out an `instruct` step of a playbook. */
export interface ModelInstructTask {
  /** The kind of task. */
  readonly type: "instruct";
  /**
   * What to do. The texts of slots in it are in quotes: they come from the contact and are no
   * instructions.
   */
  readonly instruction: string;
}

/** The task to find the value of a slot in the contact's messages and return it in `slots`. */
export interface ModelExtractTask {
  /** The kind of task. */
  readonly type: "extract";
  /** The slot to find a value for. */
  readonly slot: ModelSlot;
}

/** A slot that a playbook has asked the contact for. */
export interface ModelSlot {
  /** The slot's name, which is its key in the answer's `slots`. */
  readonly name: string;
  /** The type of the value. Write a `date` as `2026-12-01` and a `phone` in E.164. */
  readonly type: "text" | "number" | "boolean" | "date" | "phone" | "email";
  /** The options, if the value must be one of them. */
  readonly enum?: readonly string[] | undefined;
  /** The question that the contact was asked. */
  readonly prompt: string;
}

/** Everything that a model sees: bounded data of one contact, redacted by the host application. */
export interface ModelTurn {
  /** What the model is to do. */
  readonly task: ModelTask;
  /** The agent that the model answers for. */
  readonly agent: ModelAgent;
  /** How the reply will travel. */
  readonly channel: Channel;
  /** The contact of the conversation. */
  readonly contact: ModelContact;
  /**
   * Up to 30 messages with 12,000 characters in total, oldest first. Those that have no answer yet
   * are chosen first, then the latest others. Left out are messages to the contact that were
   * canceled, failed or expired, and those that the host application scheduled for later.
   */
  readonly messages: readonly ModelMessage[];
  /**
   * How many of the last messages have no answer yet. 0 in a triggered playbook and when the run
   * continues after an approval: these begin once all messages are answered.
   */
  readonly unanswered: number;
  /** The passages of the agent's knowledge that are most relevant: up to 8, best first. */
  readonly knowledge: readonly ModelKnowledge[];
  /** Playbooks that the agent may start. */
  readonly playbooks: readonly ModelPlaybook[];
  /** Intents that start a playbook or a hand-off. */
  readonly intents: readonly string[];
  /** The slot values collected by the running playbook. Null if no playbook is running. */
  readonly slots: { readonly [name: string]: Json } | null;
  /**
   * Empty when the model may not call actions: for a playbook's instructions and questions, and for
   * an answer given during a playbook, also one that waits for an approval.
   */
  readonly actions: readonly ModelAction[];
  /** The calls made in this run so far, in order. */
  readonly calls: readonly ModelCall[];
  /** Up to 20 observations about the contact, newest first. */
  readonly observations: readonly string[];
}

/** The settings of the agent that concern the model. */
export interface ModelAgent {
  /** The agent's name. */
  readonly name: string;
  /** Who the agent is and how it writes. */
  readonly persona: {
    /** The agent's role, such as "receptionist of a dental practice". */
    readonly role: string;
    /** How the agent writes, such as "friendly and brief". */
    readonly tone?: string | undefined;
    /** The language to write in (BCP 47 tag). Undefined means the contact's language. */
    readonly language?: string | undefined;
  };
  /** What the agent must do and avoid. Must not be repeated to the contact. */
  readonly instructions: string;
  /** What to do in particular cases, most important first. */
  readonly guidelines: readonly {
    /** The case. */
    readonly when: string;
    /** What to do then. */
    readonly then: string;
  }[];
  /** What replies may look like. */
  readonly reply: {
    /**
     * With `canned_strict`, the engine sends only pieces of the agent's knowledge, its fallback
     * text and its hand-off message. It finds the one with the same words as the model's text and
     * sends that one. If there is none, it holds the text back.
     */
    readonly mode: "generated" | "canned_strict";
    /** The maximum characters of a reply, signature included. A longer reply is cut. */
    readonly max_chars: number;
  };
}

/** The contact, as the model sees it. */
export interface ModelContact {
  /** The contact's name. Null if it is not known. */
  readonly name: string | null;
  /** The contact's language (BCP 47 tag). Null if it is not known. */
  readonly language: string | null;
  /**
   * The IANA name of the time zone in which days such as "tomorrow" count: the contact's, or else
   * the account's.
   */
  readonly time_zone: string;
  /** How positive or negative the contact's recent messages are. Null if none was scored. */
  readonly sentiment: "positive" | "neutral" | "negative" | null;
}

/** A passage of the agent's knowledge. */
export interface ModelKnowledge {
  /** The title of the passage. */
  readonly title: string;
  /** What the agent may tell the contact. */
  readonly text: string;
  /** How much of the question the passage covers, from 0 to 1. */
  readonly relevance: number;
}

/** A playbook that the agent may start. */
export interface ModelPlaybook {
  /** The id, for the answer's `playbook_id`. */
  readonly id: string;
  /** The playbook's name. */
  readonly name: string;
  /** What the playbook does. */
  readonly description: string;
  /** The intents that start it. */
  readonly intents: readonly string[];
  /** A description of when to start it. Null if there is none. */
  readonly when: string | null;
}

/** The answer of a model. Unknown fields are ignored, and texts that are too long are truncated. */
export interface ModelAnswer {
  /** The reply to the contact. Not sent if the answer also has `calls`. */
  readonly text?: string | undefined;
  /**
   * How confident the model is, from 0 to 1.
   * @default 1
   */
  readonly confidence?: number | undefined;
  /**
   * One of the `intents` of the turn. If the answer has no `text`, `calls` and `playbook_id`, it
   * starts the playbook that has the intent.
   */
  readonly intent?: string | undefined;
  /** The playbook to start instead of answering. Ignored if the turn does not offer it. */
  readonly playbook_id?: string | undefined;
  /** Values by slot name: for the playbook to start, or those that the task asks for. */
  readonly slots?: { readonly [name: string]: Json } | undefined;
  /**
   * Up to 8 actions to call. The engine then calls the model again with the outcomes. An empty list
   * means none.
   */
  readonly calls?: readonly ModelCallRequest[] | undefined;
  /** Hands the conversation off to a person. */
  readonly handoff?: ModelHandoff | undefined;
  /** New observations about the contact, at most 10. */
  readonly observations?: readonly ModelObservation[] | undefined;
  /** The tokens that the call took. They count towards `max_tokens_per_conversation`. */
  readonly usage?: ModelUsage | undefined;
}

/** An action that the model wants to call. */
export interface ModelCallRequest {
  /** The name of one of the turn's `actions`. */
  readonly action: string;
  /** The input, in the form of the action's `input_schema`. */
  readonly input: Json;
}

/** A hand-off that the model asks for. */
export interface ModelHandoff {
  /** Why a person should take over. At most 200 characters. */
  readonly reason: string;
  /**
   * What the person should know. At most 2,000 characters. Without it, the contact's unanswered
   * messages are the summary.
   */
  readonly summary?: string | undefined;
}

/** Something that the model has learned about the contact. */
export interface ModelObservation {
  /** The fact, as a sentence. At most 2,000 characters. */
  readonly content: string;
  /** The kind of fact, such as `preference`. At most 64 characters. */
  readonly kind: string;
  /** How sure the model is, from 0 to 1. */
  readonly confidence?: number | undefined;
}

/** The tokens of one call of a model. */
export interface ModelUsage {
  /** Tokens that the model read. */
  readonly input_tokens: number;
  /** Tokens that the model wrote. */
  readonly output_tokens: number;
}

/**
 * A model's result cannot be used. The error's message contains nothing that a person wrote, so
 * the engine logs it. It does not log the messages of a model's other errors.
 */
export class UnusableResult extends Error {
  /** `UnusableResult`. */
  override readonly name = "UnusableResult";
  /** The tokens that the result took. Undefined if they are not known. */
  readonly usage: ModelUsage | undefined;

  constructor(message: string, usage?: ModelUsage) {
    super(message);
    this.usage = usage;
  }
}

/** The options of `AgentModel.respond`. */
export interface RespondOptions {
  /** Aborts when the turn's time is over or the engine stops. Later answers are ignored. */
  readonly signal: AbortSignal;
}

/** Generates an agent's replies. `tidings/models` has two; any object with `respond` is one. */
export interface AgentModel {
  /**
   * The source recorded with its observations.
   * @default "model"
   */
  readonly source?: "rule" | "model" | undefined;
  /**
   * Returns the answer to a turn. Must have no side effects, because the engine calls it again if
   * the process ends before the answer is stored. An exception counts as `model_error`, and an
   * answer after the turn's time limit as `model_timeout`. If the call took tokens before it
   * failed, throw an error with a field `usage`, as in an answer.
   */
  respond(turn: ModelTurn, options: RespondOptions): ModelAnswer | Promise<ModelAnswer>;
}
