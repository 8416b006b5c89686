import type { MessagingEngine } from "../../../adapters/entry.ts";
import type { ListConversations } from "../../../src/conversations/input-types.ts";
import { conversations, type ConversationRow } from "../../../src/conversations/rows.ts";
import { labels } from "../actors/inbox-operators.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { allRows, writtenRows } from "../rows.ts";

/** Filters of the inbox, and the rows that they must show. */
interface View {
  readonly filters: ListConversations;
  readonly shows: (row: ConversationRow) => boolean;
}

const views: readonly View[] = [
  { filters: {}, shows: () => true },
  ...(["open", "closed"] as const).map((status) => ({
    filters: { status },
    shows: (row: ConversationRow) => row.status === status,
  })),
  ...(["human", "queue", "ai", "none"] as const).map((handler) => ({
    filters: { handler },
    shows: (row: ConversationRow) => row.handler === handler,
  })),
  { filters: { assignee: "ann" }, shows: ({ assignee_id }) => assignee_id === "ann" },
  { filters: { unread: true }, shows: ({ unread_count }) => unread_count > 0 },
  {
    filters: { unread: false, status: "open" },
    shows: (row) => row.unread_count === 0 && row.status === "open",
  },
  {
    filters: { opt_out_suspected: true },
    shows: ({ opt_out_suspected }) => opt_out_suspected === true,
  },
  { filters: { channel: "webchat" }, shows: ({ medium }) => medium === "webchat" },
  ...labels.map((label) => ({
    filters: { label },
    shows: (row: ConversationRow) => row.labels.includes(label),
  })),
];

/** The ids on all pages, which are so short that there are several. */
async function listAll(engine: MessagingEngine, filters: ListConversations): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await engine.conversations.list({
      ...filters,
      limit: 3,
      ...(cursor === undefined ? {} : { cursor }),
    });
    ids.push(...page.data.map(({ id }) => id));
    if (page.next_cursor === null) return ids;
    cursor = page.next_cursor;
  }
}

export const activityMovesForward: Invariant = {
  name: "A conversation does not move back in the inbox.",
  check() {
    const lastActivity = new Map<string, number>();
    return {
      *commit(engine, writes) {
        for (const { id, last_activity_at } of writtenRows(writes, conversations)) {
          const before = lastActivity.get(id) ?? 0;
          lastActivity.set(id, last_activity_at);
          if (last_activity_at >= before) continue;
          const description = `${engine} moved ${id} back by ${before - last_activity_at} ms`;
          yield { about: [id], description };
        }
      },
    };
  },
};

export const inboxMatchesRows: Invariant = {
  name: "The inbox lists exactly the conversations that match its filters, the latest first.",
  check: ({ database, clients }) => ({
    async end() {
      const violations: Violation[] = [];
      const newestFirst = (a: ConversationRow, b: ConversationRow): number =>
        b.last_activity_at - a.last_activity_at || (a.id < b.id ? 1 : -1);
      const sorted = allRows(database, conversations).toSorted(newestFirst);
      for (const { filters, shows } of views) {
        const expected = sorted.filter(shows).map(({ id }) => id);
        const answer = await clients.ask((engine) => listAll(engine, filters));
        const found = answer.kind === "done" ? answer.value : [answer.kind];
        if (found.join() === expected.join()) continue;
        const description = `the inbox with ${JSON.stringify(filters)} lists ${found.join(", ")} instead of ${expected.join(", ")}`;
        violations.push({ about: [...found, ...expected], description });
      }
      return violations;
    },
  }),
};
