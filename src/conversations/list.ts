import { contactById } from "../contacts/index.ts";
import {
  conversationById,
  type ConversationLabelRow,
  conversationsOfContact,
  type ConversationRow,
  inbox,
  inboxByAssignee,
  inboxByHandler,
  inboxByLabel,
  inboxSuspected,
  inboxUnread,
} from "./rows.ts";
import {
  type Conversation,
  conversationStatusSchema,
  type ListConversations,
  listConversationsSchema,
} from "./types.ts";
import { mediumOf, type Page } from "../kernel/index.ts";
import { type OwnWalk, pageOf, type Query } from "../operations/index.ts";
import type { KeyValue, ScopedIndex, Seen } from "../ports/index.ts";
import {
  look,
  type Look,
  lookAcross,
  ownPlaceColumns,
  passes,
  placeAt,
  type Reads,
  type ScopedRangeOf,
} from "../store/index.ts";
import { showConversations } from "./show.ts";

/**
 * The unified inbox: newest activity first, whatever the medium and whoever sent the messages. Of one contact, in the order in which they
 * began: of those there are few, and no index is kept for their activity.
 */
export const listConversations: Query<ListConversations, Page<Conversation>> = {
  kind: "query",
  name: "conversations.list",
  input: () => listConversationsSchema,
  async run(reads, { limit, cursor, ...filters }, call) {
    const asked = { operation: "conversations.list", filters, input: { limit, cursor } };
    const found = await pageOf({ ...(await wayFor(reads, filters)), ...asked }, call);
    return { ...found, data: await showConversations(reads, found.data) };
  },
};

type Filters = Omit<ListConversations, "limit" | "cursor">;
type Way = Pick<OwnWalk<ConversationRow>, "index" | "prefix" | "look">;
type Where = NonNullable<ScopedRangeOf<ConversationRow>["where"]>;

const order = "descending";

/** The shortest way to what passes: the filter that mostly lets the fewest pass leads, and the others sort out what is on its way. */
async function wayFor(reads: Reads, filters: Filters): Promise<Way> {
  const { contact_id, label, status, ...others } = filters;
  const where = whereOf(others);
  const statuses = status === undefined ? conversationStatusSchema.options : [status];
  if (contact_id !== undefined) {
    const own = { ...where, ...(status === undefined ? {} : { status }) };
    return wayOfContact(reads, contact_id, own, label);
  }
  if (label !== undefined) return wayOfLabel(reads, label, statuses, where);
  const { index, by } = leadOf(others);
  return {
    index,
    prefix: by.length + 1,
    look: (limit, after) => {
      const from = {
        index,
        order,
        where,
        limit,
        ...(after === undefined ? {} : { after }),
      } as const;
      return lookAcross(
        reads,
        statuses.map((each) => ({ ...from, prefix: [each, ...by] })),
      );
    },
  };
}

interface Lead {
  readonly index: ScopedIndex<ConversationRow>;
  /** What it has between the status and the time. */
  readonly by: readonly KeyValue[];
}

function leadOf({
  assignee,
  handler,
  unread,
  opt_out_suspected,
}: Omit<Filters, "contact_id" | "label" | "status">): Lead {
  if (opt_out_suspected === true) return { index: inboxSuspected, by: [] };
  if (assignee !== undefined) return { index: inboxByAssignee, by: [assignee] };
  if (unread === true) return { index: inboxUnread, by: [] };
  if (handler !== undefined && handler !== "none") return { index: inboxByHandler, by: [handler] };
  return { index: inbox, by: [] };
}

function whereOf({ handler, assignee, channel, unread, opt_out_suspected }: Filters): Where {
  const flag = (asked: boolean): true | null => (asked ? true : null);
  return {
    ...(handler === undefined ? {} : { handler }),
    ...(assignee === undefined ? {} : { assignee_id: assignee }),
    ...(channel === undefined ? {} : { medium: mediumOf(channel) }),
    ...(unread === undefined ? {} : { unread: flag(unread) }),
    ...(opt_out_suspected === undefined ? {} : { opt_out_suspected: flag(opt_out_suspected) }),
  };
}

/** What was merged away is found under its survivor. Another's contact has as few conversations as one that never was. */
async function wayOfContact(
  reads: Reads,
  contact_id: string,
  where: Where,
  label: string | undefined,
): Promise<Way> {
  const contact = await reads.get(contactById, [contact_id]);
  const index = conversationsOfContact;
  return {
    index,
    prefix: 1,
    async look(limit, after) {
      if (contact === undefined) return { rows: [], more: false, last: undefined };
      const prefix = [contact.merged_into ?? contact.id];
      const found = await look(reads, {
        index,
        prefix,
        order,
        where,
        limit,
        ...(after === undefined ? {} : { after }),
      });
      if (label === undefined) return found;
      return { ...found, rows: found.rows.filter(({ labels }) => labels.includes(label)) };
    },
  };
}

/** How many conversations of a label one look goes through to find those that pass the other filters. */
const mostLabelled = 200;

/** A label's rows stand in the order of the inbox; what else is asked for is seen in the conversations that they lead to. */
function wayOfLabel(
  reads: Reads,
  label: string,
  statuses: readonly ConversationRow["status"][],
  where: Where,
): Way {
  const index = inboxByLabel;
  const columns = ownPlaceColumns(index, 2);
  const isPlain = Object.keys(where).length === 0;
  return {
    index,
    prefix: 2,
    async look(limit, after): Promise<Look<ConversationRow>> {
      const from = {
        index,
        order,
        limit: isPlain ? limit : mostLabelled,
        ...(after === undefined ? {} : { after }),
      } as const;
      const labelled = await lookAcross<ConversationLabelRow>(
        reads,
        statuses.map((status) => ({ ...from, prefix: [label, status] })),
      );
      const keys = labelled.rows.map((row) => [row.conversation_id] as const);
      const known = new Map(
        (await reads.getAll(conversationById, keys)).map((row) => [row.id, row]),
      );
      const passing = labelled.rows.flatMap((labelRow) => {
        const row = known.get(labelRow.conversation_id);
        // It may have changed between the two reads.
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
