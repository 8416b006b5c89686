import * as z from "zod";
import {
  contactReferenceSchema,
  sentimentSchema,
  type ContactReference,
  type Sentiment,
} from "../contacts/index.ts";
import { defineEvent } from "../events/index.ts";
import {
  ids,
  timestamp,
  type AgentId,
  type ContactId,
  type ConversationId,
  type MessageId,
  type RunId,
} from "../kernel/index.ts";
import { runSchema, type Run } from "./runs/types.ts";

/** The data of `conversation.handoff`. */
export interface ConversationHandoffData {
  /** The conversation, which now waits for a person. */
  readonly conversation_id: ConversationId;
  /** The contact of the conversation. */
  readonly contact: ContactReference;
  /** The agent that the conversation is assigned to. Null if it is assigned to no agent. */
  readonly agent_id: AgentId | null;
  /** Why the conversation was handed off, for people. Empty after an erasure or a redaction. */
  readonly reason: string;
  /**
   * The cause, as hand-off rules name it, such as `customer_request`. Null for other reasons, such
   * as a call of `conversations.handOff`.
   */
  readonly rule: string | null;
  /**
   * A summary for the person who takes over. If the agent wrote none, what the contact wrote last.
   * Can be empty.
   */
  readonly summary: string;
  /**
   * The last messages of the conversation, oldest first, at most 10. Those that wait for their time
   * are left out.
   */
  readonly last_message_ids: MessageId[];
  /** The contact's sentiment. Null before the first score. */
  readonly sentiment: Sentiment | null;
}

export const conversationHandoff = defineEvent("conversation.handoff", {
  conversation_id: ids.conversation,
  contact: contactReferenceSchema,
  agent_id: ids.agent.nullable(),
  reason: z.string(),
  rule: z.string().nullable(),
  summary: z.string(),
  last_message_ids: z.array(ids.message),
  sentiment: sentimentSchema.nullable(),
});

/** The data of `agent.run.awaiting_approval`. */
export interface AgentRunAwaitingApprovalData {
  /** The run. Its `approval` has the input of the call. */
  readonly run_id: RunId;
  /** The agent of the run. */
  readonly agent_id: AgentId;
  /** The conversation that the agent works on. */
  readonly conversation_id: ConversationId;
  /** The contact of the conversation. */
  readonly contact_id: ContactId;
  /** The call of the action. A decision names it. */
  readonly call_id: string;
  /** The name of the action. */
  readonly action: string;
  /** When the call is denied, unless somebody decides before. */
  readonly approve_by: string;
}

export const agentRunAwaitingApproval = defineEvent("agent.run.awaiting_approval", {
  run_id: ids.run,
  agent_id: ids.agent,
  conversation_id: ids.conversation,
  contact_id: ids.contact,
  call_id: z.string(),
  action: z.string(),
  approve_by: timestamp,
});

/** The data of `agent.run.approval_decided`. */
export interface AgentRunApprovalDecidedData {
  /** The run that asked for the call. */
  readonly run_id: RunId;
  /** The agent of the run. */
  readonly agent_id: AgentId;
  /** The conversation that the agent works on. */
  readonly conversation_id: ConversationId;
  /** The contact of the conversation. */
  readonly contact_id: ContactId;
  /** The call of the action. */
  readonly call_id: string;
  /** The name of the action. */
  readonly action: string;
  /** Whether the call was approved or denied. */
  readonly decision: "approve" | "deny";
  /** The host application's id of the person who decided. Null if unknown, or if nobody did. */
  readonly author_id: string | null;
  /**
   * Why the call was denied although nobody decided. `approval_timeout`: its deadline has passed.
   * `run_ended`: its run ended first. Null if somebody decided.
   */
  readonly error: "approval_timeout" | "run_ended" | null;
}

export const agentRunApprovalDecided = defineEvent("agent.run.approval_decided", {
  run_id: ids.run,
  agent_id: ids.agent,
  conversation_id: ids.conversation,
  contact_id: ids.contact,
  call_id: z.string(),
  action: z.string(),
  decision: z.enum(["approve", "deny"]),
  author_id: z.string().nullable(),
  error: z.enum(["approval_timeout", "run_ended"]).nullable(),
});

/** The data of `agent.run.completed`. */
export interface AgentRunCompletedData {
  /** The run, with its steps and its result. */
  readonly run: Run;
}

export const agentRunCompleted = defineEvent("agent.run.completed", {
  run: runSchema,
});
