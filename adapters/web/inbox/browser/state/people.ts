/** The names of the people and agents that the page shows by their ids. */
import { signal } from "@preact/signals";
import type { Agent, Assignee, Message, Operator, Page } from "../../../../../src/index.ts";
import { api, current, may } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

/** The people who may be assigned, as far as the page knows them. */
export const operators = signal<readonly Pick<Operator, "id" | "name" | "avatar_url">[]>([]);
/** The agents of the account. */
export const agents = signal<readonly Pick<Agent, "id" | "name" | "enabled">[]>([]);

const maxRead = 100;

/** Reads the people and agents of the account. */
export async function loadPeople(): Promise<void> {
  const readAgents = async (): Promise<void> => {
    if (!may("agents:read")) return;
    agents.value = (await api.get<Page<Agent>>("v1/agents", { limit: maxRead })).data;
  };
  const readOperators = async (): Promise<void> => {
    operators.value = (await api.get<Page<Operator>>("v1/operators", { limit: maxRead })).data;
  };
  // Without the names, the ids stand for them.
  await Promise.allSettled([readAgents(), readOperators()]);
}

/** Whether it is the person who uses the page. */
export const isMe = ({ type, id }: Assignee | Message["author"]): boolean =>
  type === "human" && id === current.value?.operator.id;

/** The name of an assigned person or agent. */
export function nameOfAssignee({ type, id }: Assignee): string {
  if (isMe({ type, id })) return t("authorYou");
  if (type === "human") return operators.value.find((each) => each.id === id)?.name ?? id;
  return agents.value.find((each) => each.id === id)?.name ?? t("authorAgent");
}

/** A person's name and picture, also of the person who uses the page. */
export function personOf(
  id: string | undefined,
): { readonly name: string; readonly avatar_url?: string | null } | undefined {
  const me = current.value?.operator;
  return me?.id === id ? me : operators.value.find((each) => each.id === id);
}

/** The name of the author of a message or note. `contact` is the contact's name. */
export function nameOfAuthor({ type, id }: Message["author"], contact: string): string {
  if (type === "contact") return contact;
  if (type === "human") {
    return id === undefined ? t("authorHuman") : nameOfAssignee({ type, id });
  }
  if (type === "agent") return nameOfAssignee({ type, id: id ?? "" });
  return t(type === "api" ? "authorApi" : "authorSystem");
}
