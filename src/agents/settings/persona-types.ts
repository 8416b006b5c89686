/** Who an agent is, what it knows, and how it behaves in particular cases. */
import * as z from "zod";
import { isLanguageTag, name, readonlyList, text } from "../../kernel/index.ts";
import { whole } from "../fields.ts";

/** Who an agent is and how it writes. Only language models use it. */
export interface AgentPersona {
  /** The agent's role, such as "receptionist of a dental practice". */
  readonly role: string;
  /** How the agent writes, such as "friendly and brief". */
  readonly tone?: string | undefined;
  /** The language that the agent writes (BCP 47 tag). If absent, the contact's language. */
  readonly language?: string | undefined;
}

export const agentPersonaSchema = z
  .strictObject({
    role: z.string(),
    tone: z.string().optional(),
    language: z.string().optional(),
  })
  .meta({ interface: "AgentPersona" });

export const defaultPersona: AgentPersona = { role: "assistant" };

/** Who an agent is and how it writes. Absent fields keep their values or get their defaults. */
export interface AgentPersonaInput {
  /**
   * The agent's role, such as "receptionist of a dental practice". At most 500 characters.
   * @default "assistant"
   */
  readonly role?: string | undefined;
  /** How the agent writes, such as "friendly and brief". At most 500 characters. */
  readonly tone?: string | null | undefined;
  /** The language that the agent writes (BCP 47 tag). Null means the contact's language. */
  readonly language?: string | null | undefined;
}

export const agentPersonaInputSchema = z
  .strictObject({
    role: name(500).meta({ default: defaultPersona.role }),
    tone: name(500).nullable(),
    language: text(64)
      .refine(isLanguageTag, { error: "must be a language tag (BCP 47), such as pt-BR" })
      .meta({ pattern: "^[A-Za-z]" })
      .nullable(),
  })
  .partial()
  .meta({ interface: "AgentPersonaInput" });

/** What an agent does in a particular case. Only language models use it. */
export interface AgentGuideline {
  /** The case, such as "the contact asks for a discount". */
  readonly when: string;
  /** What the agent does then. */
  readonly then: string;
  /** Guidelines with higher values come first. */
  readonly priority: number;
}

export const agentGuidelineSchema = z
  .strictObject({
    when: z.string(),
    then: z.string(),
    priority: z.int(),
  })
  .meta({ interface: "AgentGuideline" });

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

export const agentGuidelineInputSchema = z
  .strictObject({
    when: name(500),
    then: name(1_000),
    priority: whole(-1_000, 1_000).optional().meta({ default: 0 }),
  })
  .meta({ interface: "AgentGuidelineInput" });

export const agentGuidelinesInputSchema = readonlyList(z.array(agentGuidelineInputSchema).max(50));

/** A piece of an agent's knowledge. */
export interface AgentKnowledge {
  /** The title. The words of the question that it answers make a good one. */
  readonly title: string;
  /** What the agent may tell contacts. `rules()` sends it word for word. */
  readonly text: string;
}

export const agentKnowledgeSchema = z
  .strictObject({
    title: z.string(),
    text: z.string(),
  })
  .meta({ interface: "AgentKnowledge" });

/** A piece of an agent's knowledge. */
export interface AgentKnowledgeInput {
  /**
   * The title. The words of the question that it answers make a good one. At most 200 characters.
   */
  readonly title: string;
  /**
   * What the agent may tell contacts. `rules()` sends it word for word. At most 4,000 characters.
   */
  readonly text: string;
}

export const agentKnowledgeInputSchema = z
  .strictObject({ title: name(200), text: name(4_000) })
  .meta({ interface: "AgentKnowledgeInput" });

export const agentKnowledgeListInputSchema = readonlyList(
  z.array(agentKnowledgeInputSchema).max(100),
);
