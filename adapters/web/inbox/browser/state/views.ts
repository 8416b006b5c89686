/** The views of the inbox: what each shows, in which order, and how it is requested. */
import type {
  Conversation,
  ConversationMatch,
  LastMessage,
  Page,
  Priority,
} from "../../../../../src/index.ts";
import {
  api,
  ApiError,
  currentSession,
  linkTo,
  may,
  type Place,
  type Query,
} from "../../../shared/browser/index.ts";
import type { PageRequest } from "./list-source.ts";
import { matches } from "./matches.ts";
import { isMe } from "./people.ts";

export const views = ["all", "mine", "unassigned", "waiting", "snoozed", "closed"] as const;

/** A view of the inbox. */
export type View = (typeof views)[number];

const isView = (given: string | undefined): given is View => views.some((view) => view === given);

/** What the address can name first: a view of the conversations, or the contacts. */
export type ListName = View | "contacts";

/**
 * The lists that the page offers to the person. A person who may see neither conversations nor
 * contacts gets the views, which say so.
 */
export function offeredLists(): readonly [ListName, ...ListName[]] {
  if (!may("contacts:read")) return views;
  return may("conversations:read") ? [...views, "contacts"] : ["contacts"];
}

/** The list that the path of a place names. Undefined if the page has no such list. */
export function listNameOf([name]: readonly string[]): ListName | undefined {
  if (name === undefined) return offeredLists()[0];
  if (name === "contacts") return may("contacts:read") ? name : undefined;
  return isView(name) ? name : undefined;
}

/** The view that the path of a place names. Without one, it is that of the open conversations. */
export const viewOf = ([view]: readonly string[]): View => (isView(view) ? view : "all");

/** The address of a conversation in the view of a place. */
export const conversationLink = (id: string, { path, query }: Place): string =>
  // The search and the filters of the contacts would apply to the conversations, too.
  linkTo([viewOf(path), id], listNameOf(path) === "contacts" ? {} : query);

/** What the list shows. */
export interface ListQuery {
  readonly view: View;
  readonly label?: string | undefined;
  readonly channel?: "sms" | "webchat" | undefined;
  readonly priority?: Priority | undefined;
  readonly unread?: boolean | undefined;
  /** The words of a search. The filters apply to it. */
  readonly words?: string | undefined;
  /** Whether a search finds only conversations of the view. By default it finds all. */
  readonly isInView?: boolean | undefined;
}

/** The parameters of the place from which the query is made. */
export const queryParameters = ["label", "channel", "priority", "unread", "q", "in"] as const;

const channels = ["sms", "webchat"] as const;
const priorities = ["low", "normal", "high", "urgent"] as const;

/** What the list shows at a place. A value that a parameter cannot have is ignored. */
export function listQueryOf(
  view: View,
  parameters: { readonly [name in (typeof queryParameters)[number]]?: string },
): ListQuery {
  const { label, channel, priority, unread, q, in: where } = parameters;
  return {
    view,
    label: label || undefined,
    channel: channels.find((each) => each === channel),
    priority: priorities.find((each) => each === priority),
    unread: unread === "true" ? true : undefined,
    words: q || undefined,
    isInView: where === "view" ? true : undefined,
  };
}

/** Whether the query is a search that ignores the view. */
export const isEverywhere = ({ words, isInView }: ListQuery): boolean =>
  words !== undefined && isInView !== true;

/** When a conversation was last active, as an ISO time. */
export const activityOf = ({ last_message, created_at }: Conversation): string =>
  last_message === null ? created_at : timeOfLast(last_message);

/** When a last message was written, or sent if it was scheduled, as an ISO time. */
export const timeOfLast = ({
  status,
  placed_at,
  created_at,
}: Pick<LastMessage, "status" | "placed_at" | "created_at">): string =>
  // A message that is canceled takes its place in the thread, but that is no activity.
  status === "canceled" ? created_at : (placed_at ?? created_at);

/** The order of a view: hand-offs and then the longest wait, else the newest activity first. */
export function byView(view: View): (a: Conversation, b: Conversation) => number {
  if (view === "waiting") {
    return (a, b) =>
      Number(b.handler === "queue") - Number(a.handler === "queue") ||
      compare(a.waiting_since ?? "", b.waiting_since ?? "") ||
      compare(a.id, b.id);
  }
  return (a, b) => compare(activityOf(b), activityOf(a)) || compare(b.id, a.id);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const isMine = ({ assignee }: Conversation): boolean => assignee !== null && isMe(assignee);

const belongs: { readonly [name in View]: (row: Conversation) => boolean } = {
  all: ({ status }) => status === "open",
  mine: (row) => row.status === "open" && isMine(row),
  unassigned: ({ status, assignee, handler }) =>
    status === "open" && handler !== "ai" && assignee?.type !== "human",
  waiting: ({ status, waiting_since }) => status === "open" && waiting_since !== null,
  snoozed: ({ status }) => status === "snoozed",
  closed: ({ status }) => status === "closed",
};

/** Whether a conversation passes the view and the filters of a query. Ignores the search words. */
export function isShown(query: ListQuery, row: Conversation): boolean {
  const { view, label, channel, priority, unread } = query;
  if (!isEverywhere(query) && !belongs[view](row)) return false;
  if (label !== undefined && !row.labels.includes(label)) return false;
  if (channel !== undefined && (channel === "webchat") !== (row.medium === "webchat")) return false;
  if (priority !== undefined && row.priority !== priority) return false;
  return unread !== true || row.unread_count > 0;
}

/** Reads one page of what the list shows. */
export async function requestOf(query: ListQuery, page: PageRequest): Promise<Page<Conversation>> {
  const parameters = parametersOf(query, page);
  const { signal } = page;
  const found = await (query.words === undefined
    ? api.get<Page<Conversation>>("v1/conversations", { query: parameters, signal })
    : search(query.words, parameters, signal));
  return { ...found, data: found.data.filter((row) => isShown(query, row)) };
}

const parametersOf = (query: ListQuery, { cursor, limit }: PageRequest): Query => ({
  limit,
  cursor,
  label: query.label,
  channel: query.channel,
  priority: query.priority,
  unread: query.unread,
  ...(isEverywhere(query) ? {} : statusOf(query.view)),
});

function statusOf(view: View): Query {
  if (view === "snoozed" || view === "closed") return { status: view };
  if (view === "mine") return { status: "open", assignee: currentSession.peek()?.operator.id };
  if (view === "waiting") return { status: "open", waiting: true };
  if (view === "unassigned") return { status: "open", unassigned: true };
  return { status: "open" };
}

/** Finds conversations by words. A conversation's id finds itself. The result is one page. */
async function search(
  words: string,
  parameters: Query,
  signal: AbortSignal,
): Promise<Page<Conversation>> {
  if (/^conv_\w+$/.test(words)) {
    matches.value = new Map();
    const all = { has_more: false, next_cursor: null };
    try {
      return { data: [await api.get(`v1/conversations/${words}`, { signal })], ...all };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return { data: [], ...all };
      throw error;
    }
  }
  const { data, ...rest } = await api.get<Page<ConversationMatch>>("v1/conversations/search", {
    query: { q: words, ...parameters },
    signal,
  });
  if (!signal.aborted) {
    const found = data.flatMap(({ conversation, message }) =>
      message === null ? [] : [[conversation.id, message] as const],
    );
    matches.value = new Map(found);
  }
  return { data: data.map(({ conversation }) => conversation), ...rest };
}

const maxCounted = 100;

/** How many conversations a view has; at most 100 are counted. */
export async function countOf(query: ListQuery): Promise<number> {
  const signal = AbortSignal.timeout(20_000);
  const { data } = await requestOf(query, { cursor: null, limit: maxCounted, signal });
  return data.length;
}
