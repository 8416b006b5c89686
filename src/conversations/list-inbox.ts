import { contactById } from "../contacts/index.ts";
import { definedFields, mediumOf, type Page } from "../kernel/index.ts";
import { pageOf, type Query, type ScanList } from "../operations/index.ts";
import type { KeyValue, ScopedIndex, Seen } from "../ports/index.ts";
import {
  passes,
  placeAt,
  scan,
  scanAcross,
  scopedPlaceColumns,
  type Reads,
  type Scan,
  type ScopedRangeOf,
} from "../store/index.ts";
import {
  listConversationsSchema,
  type InboxFilters,
  type ListConversations,
} from "./input-types.ts";
import {
  conversationById,
  conversationsOfContact,
  inbox,
  inboxByAssignee,
  inboxByHandler,
  inboxByLabel,
  inboxByPriority,
  inboxSuspected,
  inboxUnassigned,
  inboxUnread,
  inboxWaiting,
  type ConversationLabelRow,
  type ConversationRow,
} from "./rows.ts";
import type { Wait } from "./rules.ts";
import { showConversations } from "./show.ts";
import { conversationStatusSchema, type Conversation } from "./types.ts";

/**
 * Lists the inbox of all media and senders, newest activity first. With `contact_id` the order is
 * by start, because a contact has too few conversations to justify an index by activity. Waiting
 * conversations are in the order in which people should take them, unless the range of another
 * filter is scanned.
 */
export const listConversations: Query<ListConversations, Page<Conversation>> = {
  kind: "query",
  name: "conversations.list",
  input: () => listConversationsSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const asked = { operation: "conversations.list", filters, input: { limit, cursor } };
    const found = await pageOf({ ...(await rangeFor(reads, filters)), ...asked }, call);
    return { ...found, data: await showConversations(reads, found.data) };
  },
};

type Filters = Omit<ListConversations, "limit" | "cursor">;
type Range = Pick<ScanList<ConversationRow>, "index" | "prefix" | "scan">;
type Where = NonNullable<ScopedRangeOf<ConversationRow>["where"]>;

const newestFirst = "descending";

/**
 * Chooses the range to scan: the index of the filter that usually matches the fewest rows. The
 * other filters are applied to the rows of that range.
 */
async function rangeFor(reads: Reads, filters: Filters): Promise<Range> {
  const { contact_id, label, status, ...others } = filters;
  if (contact_id !== undefined) return rangeOfContact(reads, contact_id, filters);
  // The prefix of the range selects the status.
  const where = whereOf(others);
  const statuses = status === undefined ? conversationStatusSchema.options : [status];
  if (label !== undefined) return rangeOfLabel(reads, label, statuses, where);
  const { index, by, order = newestFirst } = chooseIndex(others);
  return {
    index,
    prefix: by.length + 1,
    scan: (limit, after) => {
      const from = { index, order, where, limit, ...(after && { after }) } as const;
      return scanAcross(
        reads,
        statuses.map((each) => ({ ...from, prefix: [each, ...by] })),
      );
    },
  };
}

interface ChosenIndex {
  readonly index: ScopedIndex<ConversationRow>;
  /** The key columns between the status and the time. */
  readonly by: readonly KeyValue[];
  /** By default the newest first. */
  readonly order?: "ascending";
}

function chooseIndex({
  assignee,
  handler,
  priority,
  unassigned,
  waiting,
  unread,
  opt_out_suspected,
}: Omit<Filters, "contact_id" | "label" | "status">): ChosenIndex {
  if (waiting === true) return { index: inboxWaiting, by: [], order: "ascending" };
  if (opt_out_suspected === true) return { index: inboxSuspected, by: [] };
  if (assignee !== undefined) return { index: inboxByAssignee, by: [assignee] };
  if (priority !== undefined && priority !== "normal") {
    return { index: inboxByPriority, by: [priority] };
  }
  if (unread === true) return { index: inboxUnread, by: [] };
  if (handler !== undefined && handler !== "none") return { index: inboxByHandler, by: [handler] };
  if (unassigned === true) return { index: inboxUnassigned, by: [] };
  return { index: inbox, by: [] };
}

const waits: readonly Wait[] = ["handoff", "reply"];

/** Returns the condition on the columns. The labels are not in it. */
function whereOf(filters: InboxFilters): Where {
  const { priority, handler, assignee, channel, waiting, status } = filters;
  // The columns of flags have null for false.
  const flag = (asked: boolean | undefined) => (asked === false ? null : asked);
  return definedFields({
    priority,
    unassigned: flag(filters.unassigned),
    waiting_for: waiting === true ? waits : flag(waiting),
    handler,
    assignee_id: assignee,
    medium: channel && mediumOf(channel),
    unread: flag(filters.unread),
    opt_out_suspected: flag(filters.opt_out_suspected),
    status,
  });
}

/**
 * The conversations of a merged contact are those of its survivor. An unknown contact gives an
 * empty list.
 */
async function rangeOfContact(
  reads: Reads,
  contact_id: string,
  { label, ...filters }: InboxFilters,
): Promise<Range> {
  const contact = await reads.get(contactById, [contact_id]);
  const index = conversationsOfContact;
  const where = whereOf(filters);
  return {
    index,
    prefix: 1,
    async scan(limit, after) {
      if (contact === undefined) return { rows: [], more: false, last: undefined };
      const prefix = [contact.merged_into ?? contact.id];
      const range = { index, prefix, order: newestFirst, where, limit } as const;
      const found = await scan(reads, { ...range, ...(after && { after }) });
      if (label === undefined) return found;
      return { ...found, rows: found.rows.filter(({ labels }) => labels.includes(label)) };
    },
  };
}

/** Returns a function that tells whether a conversation passes the filters. */
export function conversationFilter({
  label,
  ...filters
}: InboxFilters): (row: Seen<ConversationRow>) => boolean {
  const where = whereOf(filters);
  return (row) => passes(row, where) && (label === undefined || row.labels.includes(label));
}

/** Returns the latest `limit` conversations with a label, newest activity first. */
export async function findLabelled(
  reads: Reads,
  label: string,
  limit: number,
): Promise<readonly Seen<ConversationRow>[]> {
  const range = rangeOfLabel(reads, label, conversationStatusSchema.options, {});
  return (await range.scan(limit, undefined)).rows;
}

/** How many conversations of a label one scan reads to find those that match the other filters. */
const maxLabelled = 200;

/**
 * The rows of a label are in inbox order. The other filters are applied to the conversations that
 * the rows refer to.
 */
function rangeOfLabel(
  reads: Reads,
  label: string,
  statuses: readonly ConversationRow["status"][],
  where: Where,
): Range {
  const index = inboxByLabel;
  const columns = scopedPlaceColumns(index, 2);
  const isPlain = Object.keys(where).length === 0;
  return {
    index,
    prefix: 2,
    async scan(limit, after): Promise<Scan<ConversationRow>> {
      const from = {
        index,
        order: newestFirst,
        limit: isPlain ? limit : maxLabelled,
        ...(after && { after }),
      } as const;
      const labelled = await scanAcross<ConversationLabelRow>(
        reads,
        statuses.map((status) => ({ ...from, prefix: [label, status] })),
      );
      const keys = labelled.rows.map((row) => [row.conversation_id] as const);
      const known = new Map(
        (await reads.getAll(conversationById, keys)).map((row) => [row.id, row]),
      );
      const passing = labelled.rows.flatMap((labelRow) => {
        const row = known.get(labelRow.conversation_id);
        // The conversation may have changed between the two reads.
        const belongs = row?.labels.includes(label) === true && statuses.includes(row.status);
        return belongs && passes(row, where) ? [{ row, labelRow }] : [];
      });
      const page = passing.slice(0, limit);
      const rows: Seen<ConversationRow>[] = page.map(({ row }) => row);
      const end = page.at(-1);
      if (passing.length <= limit || end === undefined) return { ...labelled, rows };
      return { rows, more: true, last: placeAt(columns, end.labelRow) };
    },
  };
}
