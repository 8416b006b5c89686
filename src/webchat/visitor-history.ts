import { identityByAddress } from "../contacts/index.ts";
import {
  notFound,
  pageQuerySchema,
  withId,
  type ById,
  type MessageStatus,
  type PageQuery,
} from "../kernel/index.ts";
import { messageResource, webchatMessagesOfContact, type MessageRow } from "../messages/index.ts";
import { page, type Query } from "../operations/index.ts";
import type { Reads } from "../store/index.ts";
import { mailboxByAddress, mailOfMessage } from "./rows.ts";
import { findSession } from "./sessions/sessions.ts";
import { webchatMessage } from "./show.ts";
import { readNames, readState } from "./streams/conversation-state.ts";
import type { WebchatMessagePage } from "./types.ts";

/**
 * Lists the webchat messages of the visitor's contact in both directions, newest first. A message
 * to the visitor is listed when it has reached a mailbox, so that the list shows nothing that a
 * policy stopped or that is still to come.
 */
export const listVisitorMessages: Query<PageQuery & ById, WebchatMessagePage> = {
  kind: "query",
  name: "webchat.messages",
  input: () => withId(pageQuerySchema, "The id of the session."),
  async run(reads, { id, ...input }, call, now) {
    const { address } = await findSession(reads, id, now);
    // The mailbox is read before the messages. What it has by now is in the list.
    const [mailbox, identity] = await Promise.all([
      reads.get(mailboxByAddress, [address]),
      reads.get(identityByAddress, ["webchat", address]),
    ]);
    // An erasure that began just now has removed the address.
    if (identity === undefined) throw notFound("webchat session");
    const { contact_id } = identity;
    const list = {
      index: webchatMessagesOfContact,
      prefix: [contact_id],
      order: "descending",
      operation: "webchat.messages",
      // Not the contact, which a merge replaces: the visitor goes on with an earlier page's cursor.
      filters: { address },
      input,
    } as const;
    const found = await page(reads, list, call);
    const shown = await visibleTo(reads, address, found.data);
    const messages = shown.map(messageResource);
    const [nameOf, state] = await Promise.all([
      readNames(
        reads,
        messages.map(({ author }) => author),
      ),
      readState(reads, contact_id),
    ]);
    return {
      ...found,
      data: messages.map((message) => webchatMessage(message, nameOf(message.author))),
      last_event_id: mailbox === undefined ? null : String(mailbox.last_number),
      state,
    };
  },
};

/** The statuses of a message that has certainly reached a mailbox, or came from the visitor. */
const arrived: ReadonlySet<MessageStatus> = new Set([
  "received",
  "sent",
  "unconfirmed",
  "undelivered",
  "delivered",
  "read",
]);

/** A message whose answer is not stored yet is visible if it is in the visitor's mailbox. */
async function visibleTo(
  reads: Reads,
  address: string,
  rows: readonly MessageRow[],
): Promise<readonly MessageRow[]> {
  const unsure = rows.filter(({ status }) => !arrived.has(status));
  const entries = await reads.getAll(
    mailOfMessage,
    unsure.map(({ id }) => [id, address] as const),
  );
  const mailed = new Set(entries.map(({ message_id }) => message_id));
  return rows.filter(({ id, status }) => arrived.has(status) || mailed.has(id));
}
