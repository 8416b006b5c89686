import { z } from "zod";
import { name } from "../../kernel/index.ts";
import { atMost } from "../fields.ts";

/** A piece of an agent's knowledge. */
export interface AgentKnowledge {
  /** The title. The words of the question that it answers make a good one. */
  readonly title: string;
  /** What the agent may tell contacts. `rules()` sends it word for word. */
  readonly text: string;
}

export const agentKnowledgeSchema = z.strictObject({
  title: z
    .string()
    .describe("The title. The words of the question that it answers make a good one."),
  text: z.string().describe("What the agent may tell contacts. `rules()` sends it word for word."),
});

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

export const agentKnowledgeInputSchema = z.strictObject({
  title: name(200).describe(
    "The title. The words of the question that it answers make a good one. At most 200 characters.",
  ),
  text: name(4_000).describe(
    "What the agent may tell contacts. `rules()` sends it word for word. At most 4,000 characters.",
  ),
});

export const agentKnowledgeListInputSchema = z
  .array(agentKnowledgeInputSchema)
  .max(100, atMost(100));
