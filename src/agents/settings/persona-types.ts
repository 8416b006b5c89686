/** Who an agent is, what it knows, and how it behaves in particular cases. */
import * as z from "zod";
import { isLanguageTag, name, readonlyList, text } from "../../kernel/index.ts";
import type { SettingChanges } from "../changes.ts";
import { whole } from "../fields.ts";

/** Who an agent is and how it writes. Only language models use it. */
export interface AgentPersona {
  /**
   * The agent's role, such as "receptionist of a dental practice". At most 500 characters.
   * @default "assistant"
   */
  readonly role: string;
  /** How the agent writes, such as "friendly and brief". At most 500 characters. */
  readonly tone?: string | undefined;
  /** The language that the agent writes (BCP 47 tag). Without it, the contact's language. */
  readonly language?: string | undefined;
}

/**
 * Who an agent is and how it writes. Absent fields keep their values or get their defaults. Null
 * removes the tone or the language.
 */
export type AgentPersonaInput = SettingChanges<AgentPersona>;

export const defaultPersona: AgentPersona = { role: "assistant" };

const role = name(500).meta({ default: defaultPersona.role });
const tone = name(500);
const language = text(64)
  .refine(isLanguageTag, { error: "must be a language tag (BCP 47), such as pt-BR" })
  .meta({ pattern: "^[A-Za-z]" });

export const agentPersonaSchema = z
  .strictObject({ role, tone: tone.optional(), language: language.optional() })
  .meta({ interface: "AgentPersona" });

export const agentPersonaInputSchema = z
  .strictObject({ role, tone: tone.nullable(), language: language.nullable() })
  .partial()
  .meta({ interface: "AgentPersonaInput" });

/** What an agent does in a particular case. Only language models use it. */
export interface AgentGuidelineInput {
  /** The case, such as "the contact asks for a discount". At most 500 characters. */
  readonly when: string;
  /** What the agent does then. At most 1,000 characters. */
  readonly then: string;
  /**
   * From -1,000 to 1,000. Guidelines with higher values come first.
   * @default 0
   */
  readonly priority?: number | undefined;
}

/** What an agent does in a particular case. Only language models use it. */
export interface AgentGuideline extends AgentGuidelineInput {
  /** From -1,000 to 1,000. Guidelines with higher values come first. */
  readonly priority: number;
}

export const agentGuidelineSchema = z
  .strictObject({ when: name(500), then: name(1_000), priority: whole(-1_000, 1_000) })
  .meta({ interface: "AgentGuideline" });

const { priority } = agentGuidelineSchema.shape;

export const agentGuidelineInputSchema = z
  .strictObject({
    ...agentGuidelineSchema.shape,
    priority: priority.optional().meta({ default: 0 }),
  })
  .meta({ interface: "AgentGuidelineInput" });

export const agentGuidelinesInputSchema = readonlyList(z.array(agentGuidelineInputSchema).max(50));

/** A piece of an agent's knowledge. */
export interface AgentKnowledge {
  /**
   * The title. The words of the question that it answers make a good one. At most 200 characters.
   */
  readonly title: string;
  /**
   * What the agent may tell contacts. `rules()` sends it word for word. At most 4,000 characters.
   */
  readonly text: string;
}

export const agentKnowledgeSchema = z
  .strictObject({ title: name(200), text: name(4_000) })
  .meta({ interface: "AgentKnowledge" });
