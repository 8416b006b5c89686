/** The names of the people and agents that the page shows by their ids. */
import { signal } from "@preact/signals";
import type { Agent, Assignee, Message, Operator, Page } from "../../../../../src/index.ts";
import { api, current, currentLocale, may } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

/** The people who may be assigned, as far as the page knows them, by name. */
export const operators = signal<readonly Pick<Operator, "id" | "name" | "avatar_url">[]>([]);
/** The agents of the account, by name. */
export const agents = signal<readonly Pick<Agent, "id" | "name" | "enabled">[]>([]);

const pageSize = 100;
const maxPages = 10;

/** Reads the people and agents of the account, in the order of their names. */
export async function loadPeople(): Promise<void> {
  const readAgents = async (): Promise<void> => {
    if (may("agents:read")) agents.value = await readByName<Agent>("v1/agents");
  };
  const readOperators = async (): Promise<void> => {
    operators.value = await readByName<Operator>("v1/operators");
  };
  // Without the names, the ids stand for them.
  await Promise.allSettled([readAgents(), readOperators()]);
}

async function readByName<Item extends { readonly name: string }>(
  path: string,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages++) {
    const page: Page<Item> = await api.get(path, { limit: pageSize, cursor: cursor ?? undefined });
    found.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === null) break;
  }
  const { compare } = new Intl.Collator(currentLocale(), { numeric: true });
  return found.toSorted((a, b) => compare(a.name, b.name));
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
