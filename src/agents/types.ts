/** The resource of an agent, and the inputs that create and change one. */
import * as z from "zod";
import {
  channels,
  channelSchema,
  distinct,
  ids,
  name,
  playbookReference,
  readonlyList,
  senderAddress,
  text,
  timestamp,
  type AgentId,
  type Channel,
  type Limits,
  type PlaybookId,
} from "../kernel/index.ts";
import { identifier, whole } from "./fields.ts";
import {
  agentHandoffInputSchema,
  agentHandoffSchema,
  defaultHandoff,
  type AgentHandoff,
  type AgentHandoffInput,
} from "./settings/handoff-types.ts";
import {
  agentLimitsInputSchema,
  agentLimitsSchema,
  defaultAgentLimits,
  type AgentLimits,
  type AgentLimitsInput,
} from "./settings/limits-types.ts";
import {
  agentGuidelineSchema,
  agentGuidelinesInputSchema,
  agentKnowledgeSchema,
  agentPersonaInputSchema,
  agentPersonaSchema,
  defaultPersona,
  type AgentGuideline,
  type AgentGuidelineInput,
  type AgentKnowledge,
  type AgentPersona,
  type AgentPersonaInput,
} from "./settings/persona-types.ts";
import {
  agentReplyInputSchema,
  agentReplySchema,
  defaultReply,
  type AgentReply,
  type AgentReplyInput,
} from "./settings/reply-types.ts";

/** A configuration that replies to contacts automatically. */
export interface Agent {
  /** The id of the agent. */
  readonly id: AgentId;
  /** The agent's name. Visitors see it on webchat. */
  readonly name: string;
  /** Whether the agent answers. While it is disabled, its conversations go to people. */
  readonly enabled: boolean;
  /** The channels that the agent answers on. */
  readonly channels: Channel[];
  /**
   * The sender addresses that the agent takes conversations for. Null means all of them. It keeps a
   * conversation, whatever address the contact writes to later.
   */
  readonly senders: string[] | null;
  /** Who the agent is and how it writes. */
  readonly persona: AgentPersona;
  /** What the agent must do and avoid, for the model. */
  readonly instructions: string;
  /** What the agent does in particular cases. */
  readonly guidelines: AgentGuideline[];
  /** The playbooks that a contact's words can start. */
  readonly playbook_ids: PlaybookId[];
  /** Facts that the agent may tell contacts. */
  readonly knowledge: AgentKnowledge[];
  /** Names of the host application's actions that the model may call. */
  readonly actions: string[];
  /** What replies look like, and when they are sent. */
  readonly reply: AgentReply;
  /** When the agent hands off to people, and what follows. */
  readonly handoff: AgentHandoff;
  /** How much the agent may do. */
  readonly limits: AgentLimits;
  /** The text that the contact gets when the agent finds no answer. */
  readonly fallback_text: string;
  /**
   * Begins at 1 and grows with each change, except of `enabled`. A conversation keeps the version
   * that it started with.
   */
  readonly version: number;
  /** When the agent was created. */
  readonly created_at: string;
  /** When the agent was last changed. */
  readonly updated_at: string;
}

export const agentSchema = z
  .strictObject({
    id: ids.agent,
    name: z.string(),
    enabled: z.boolean(),
    channels: z.array(channelSchema),
    senders: z.array(z.string()).nullable(),
    persona: agentPersonaSchema,
    instructions: z.string(),
    guidelines: z.array(agentGuidelineSchema),
    playbook_ids: z.array(ids.playbook),
    knowledge: z.array(agentKnowledgeSchema),
    actions: z.array(z.string()),
    reply: agentReplySchema,
    handoff: agentHandoffSchema,
    limits: agentLimitsSchema,
    fallback_text: z.string(),
    version: whole(1),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Agent" });

/** The part of an agent that has versions: everything the caller sets except `enabled`. */
export type AgentDefinition = Omit<
  Agent,
  "id" | "enabled" | "version" | "created_at" | "updated_at"
>;

/** The defaults of an agent that is created with a name and channels only. */
export const defaultAgent: Omit<AgentDefinition, "name" | "channels"> = {
  senders: null,
  persona: defaultPersona,
  instructions: "",
  guidelines: [],
  playbook_ids: [],
  knowledge: [],
  actions: [],
  reply: defaultReply,
  handoff: defaultHandoff,
  limits: defaultAgentLimits,
  fallback_text: "Thank you for your message. We will get back to you as soon as we can.",
};

/** The settings that are optional when an agent is created and when it is changed. */
interface AgentInput {
  /**
   * The sender addresses that the agent takes conversations for: 1 to 50. Null means all of them.
   * It keeps a conversation, whatever address the contact writes to later.
   * @default null
   */
  readonly senders?: readonly string[] | null | undefined;
  /** Who the agent is and how it writes. */
  readonly persona?: AgentPersonaInput | undefined;
  /**
   * What the agent must do and avoid, for the model. At most 10,000 characters. If the model
   * repeats twelve consecutive words of them, its reply is held back.
   * @default ""
   */
  readonly instructions?: string | undefined;
  /**
   * What the agent does in particular cases. At most 50.
   * @default []
   */
  readonly guidelines?: readonly AgentGuidelineInput[] | undefined;
  /**
   * The playbooks that a contact's words can start. At most 50.
   * @default []
   */
  readonly playbook_ids?: readonly string[] | undefined;
  /**
   * Facts that the agent may tell contacts. At most 100.
   * @default []
   */
  readonly knowledge?: readonly AgentKnowledge[] | undefined;
  /**
   * Names of the host application's actions that the model may call. At most 50. Playbooks may call
   * any action.
   * @default []
   */
  readonly actions?: readonly string[] | undefined;
  /** What replies look like, and when they are sent. */
  readonly reply?: AgentReplyInput | undefined;
  /** When the agent hands off to people, and what follows. */
  readonly handoff?: AgentHandoffInput | undefined;
  /** How much the agent may do. */
  readonly limits?: AgentLimitsInput | undefined;
  /**
   * The text that the contact gets when the agent finds no answer.
   * @default "Thank you for your message. We will get back to you as soon as we can."
   */
  readonly fallback_text?: string | undefined;
}

/** The fields of create and update. */
function agentFields(limits: Limits) {
  return {
    name: name(200),
    channels: distinct(z.array(channelSchema).min(1).max(channels.length)),
    senders: distinct(z.array(senderAddress).min(1).max(50))
      .nullable()
      .meta({ default: defaultAgent.senders }),
    persona: agentPersonaInputSchema,
    instructions: text(10_000).meta({ default: defaultAgent.instructions }),
    guidelines: agentGuidelinesInputSchema.meta({ default: defaultAgent.guidelines }),
    playbook_ids: distinct(z.array(playbookReference).max(50)).meta({
      default: defaultAgent.playbook_ids,
    }),
    knowledge: readonlyList(z.array(agentKnowledgeSchema).max(100)).meta({
      default: defaultAgent.knowledge,
    }),
    actions: distinct(z.array(identifier).max(50)).meta({ default: defaultAgent.actions }),
    reply: agentReplyInputSchema(limits),
    handoff: agentHandoffInputSchema(limits),
    limits: agentLimitsInputSchema,
    fallback_text: name(limits.messageCharacters).meta({ default: defaultAgent.fallback_text }),
  };
}

/** The settings of a new agent. It answers messages that arrive after it was created. */
export interface CreateAgent extends AgentInput {
  /** The agent's name, at most 200 characters. Visitors see it on webchat. */
  readonly name: string;
  /** The channels that the agent answers on. At least one. */
  readonly channels: readonly Channel[];
  /**
   * Whether the agent answers. This needs the engine option `agents`. While the agent is disabled,
   * its conversations go to people when their contacts write.
   * @default true
   */
  readonly enabled?: boolean | undefined;
}

export const createAgentSchema = (limits: Limits) => {
  const fields = agentFields(limits);
  return z
    .strictObject(fields)
    .partial()
    .extend({
      name: fields.name,
      channels: fields.channels,
      enabled: z.boolean().optional().meta({ default: true }),
    })
    .meta({ id: "CreateAgent" });
};

/** Absent fields keep their values, also within objects. Lists are replaced as a whole. */
export interface UpdateAgent extends AgentInput {
  /** The agent's name, at most 200 characters. Visitors see it on webchat. */
  readonly name?: string | undefined;
  /** The channels that the agent answers on. At least one. */
  readonly channels?: readonly Channel[] | undefined;
  /**
   * Whether the agent answers. This needs the engine option `agents`. While the agent is disabled,
   * its conversations go to people when their contacts write.
   */
  readonly enabled?: boolean | undefined;
}

export const updateAgentSchema = (limits: Limits) =>
  z
    .strictObject(agentFields(limits))
    .partial()
    .extend({ enabled: z.boolean().optional() })
    .meta({ id: "UpdateAgent" });
