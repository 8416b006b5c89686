/** What the sections of an agent's form have in common. */
import type { ComponentChildren } from "preact";
import type { Form } from "../form/form.ts";
import { defaultOf, hintOf } from "../form/schema.ts";
import type { AgentDraft } from "./agent-draft.ts";

export interface AgentSectionProps {
  readonly form: Form<AgentDraft>;
}

/** What a field means, in the words of the API. */
export const agentHint = (path: string): ComponentChildren => hintOf("CreateAgent", path);

/** The default of a field as the text of a form. */
export const agentDefault = (path: string): string => defaultOf("CreateAgent", path);
