/** The names of the people and agents that the page shows by their ids. */
import { signal, type Signal } from "@preact/signals";
import type { Agent, Assignee, Message, Operator, Page } from "../../../../../src/index.ts";
import {
  api,
  ApiError,
  currentLocale,
  currentSession,
  may,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

/** The people who may be assigned, as far as the page knows them, by name. */
export const operators = signal<readonly Pick<Operator, "id" | "name" | "avatar_url">[]>([]);
/** The agents of the account, by name. */
export const agents = signal<readonly Pick<Agent, "id" | "name" | "enabled">[]>([]);

const pageSize = 100;
const maxPages = 10;
/** The pauses before a page that the server failed to answer is read again, in milliseconds. */
const pausesMs = [1_000, 4_000, 16_000, 60_000];

let reading = new AbortController();

/** Reads the people and agents of the account, in the order of their names. */
export function loadPeople(): void {
  reading.abort();
  reading = new AbortController();
  if (may("agents:read")) void readByName("v1/agents", agents, reading.signal);
  if (may("conversations:read")) void readByName("v1/operators", operators, reading.signal);
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Shows the names of each page at once. Those that were known before stay until all are read. */
async function readByName<Item extends Named>(
  path: string,
  shown: Signal<readonly Item[]>,
  signal: AbortSignal,
): Promise<void> {
  const { compare } = new Intl.Collator(currentLocale(), { numeric: true });
  const before = shown.peek();
  const found = new Map<string, Item>();
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages++) {
    const page: Page<Item> | undefined = await readPage(path, cursor, signal);
    // Without the names, the ids stand for them.
    if (page === undefined) return;
    for (const item of page.data) found.set(item.id, item);
    cursor = page.next_cursor;
    const kept = cursor === null ? [] : before.filter(({ id }) => !found.has(id));
    shown.value = [...found.values(), ...kept].toSorted((a, b) => compare(a.name, b.name));
    if (cursor === null) return;
  }
}

/** Reads a page, again if the server fails. Undefined if it cannot be read. */
async function readPage<Item>(
  path: string,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page<Item> | undefined> {
  const query = { limit: pageSize, cursor };
  for (let failures = 0; ; failures++) {
    try {
      return await api.get<Page<Item>>(path, { query, signal });
    } catch (error) {
      const pauseMs = pausesMs[failures];
      // After an outage and after a sign-in, the people are read anew.
      const isTemporary = error instanceof ApiError && error.isTemporary;
      if (!isTemporary || pauseMs === undefined) return undefined;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (signal.aborted) return undefined;
    }
  }
}

/** Whether it is the person who uses the page. */
export const isMe = ({ type, id }: Assignee | Message["author"]): boolean =>
  type === "human" && id === currentSession.value?.operator.id;

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
  const me = currentSession.value?.operator;
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
