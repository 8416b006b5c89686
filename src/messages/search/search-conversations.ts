import { contactQuery, findMatches } from "../../contacts/index.ts";
import {
  conversationById,
  conversationFilter,
  currentConversation,
  findLabelled,
  showConversations,
  type ConversationRow,
} from "../../conversations/index.ts";
import { defaultPageSize, mediums, type Page } from "../../kernel/index.ts";
import { findByWords, type Query } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import type { Reads } from "../../store/index.ts";
import { messageById, messagesByWords, type MessageRow } from "../rows.ts";
import { messageResource } from "../show.ts";
import {
  searchConversationsSchema,
  type ConversationMatch,
  type SearchConversations,
} from "./search-types.ts";

/**
 * How many matching contacts and conversations with matching messages a search checks in one step,
 * and how many labelled conversations a filtered search reads.
 */
const maxStep = 250;

/**
 * Searches conversations by their contact, their labels and the words of their messages.
 * Conversations whose contact or label matches come first, then those with the newest matching
 * message. The result is one page: users narrow a search with more words.
 */
export const searchConversations: Query<SearchConversations, Page<ConversationMatch>> = {
  kind: "query",
  name: "conversations.search",
  input: () => searchConversationsSchema,
  async run(reads, { q, limit = defaultPageSize, ...filters }) {
    const isFiltered = Object.values(filters).some((each) => each !== undefined);
    const isWanted = conversationFilter(filters);
    // One extra row shows whether there are more.
    const reach = isFiltered ? maxStep : limit + 1;
    const [ofContacts, labelled, worded] = await Promise.all([
      findByContact(reads, q, { limit, reach, isWanted }),
      findLabelled(reads, q.trim(), reach),
      findByWords(reads, messagesByWords, contactQuery(q).words),
    ]);
    const ids = worded.map(({ id }) => [id] as const);
    const newest = newestOfEach(await reads.getAll(messageById, ids));
    const found = new Map<string, Seen<ConversationRow>>(
      [...ofContacts, ...labelled].filter(isWanted).map((row) => [row.id, row]),
    );
    const missing = [...newest.keys()].filter((id) => !found.has(id));
    for (let at = 0; at < missing.length && found.size <= limit; at += reach) {
      const keys = missing.slice(at, at + reach).map((id) => [id] as const);
      const rows = await reads.getAll(conversationById, keys);
      for (const row of rows.filter(isWanted)) found.set(row.id, row);
    }
    const shown = await showConversations(reads, [...found.values()].slice(0, limit));
    return {
      data: shown.map((conversation) => {
        const message = newest.get(conversation.id);
        return { conversation, message: message === undefined ? null : messageResource(message) };
      }),
      has_more: found.size > limit,
      next_cursor: null,
    };
  },
};

interface WantedConversations {
  readonly limit: number;
  /** How many contacts are checked first. */
  readonly reach: number;
  readonly isWanted: (row: Seen<ConversationRow>) => boolean;
}

/**
 * Returns the latest conversations of the contacts that match, best match first. Stops when it has
 * more than `limit`. Most contacts of an import may have no conversation.
 */
async function findByContact(
  reads: Reads,
  q: string,
  { limit, reach, isWanted }: WantedConversations,
): Promise<readonly Seen<ConversationRow>[]> {
  const contacts = await findMatches(reads, q);
  const found: Seen<ConversationRow>[] = [];
  for (let at = 0, end = reach; at < contacts.length && found.length <= limit;) {
    const keys = contacts
      .slice(at, end)
      .flatMap(({ id }) => mediums.map((medium) => [id, medium] as const));
    found.push(...(await reads.getAll(currentConversation, keys)).filter(isWanted));
    [at, end] = [end, end + maxStep];
  }
  return found;
}

/** Returns the newest message of each conversation, newest first. */
function newestOfEach(messages: readonly MessageRow[]): ReadonlyMap<string, MessageRow> {
  const newest = new Map<string, MessageRow>();
  for (const message of messages.toSorted((a, b) => (a.id < b.id ? 1 : -1))) {
    if (!newest.has(message.conversation_id)) newest.set(message.conversation_id, message);
  }
  return newest;
}
