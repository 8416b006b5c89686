import { createContactFor, findRecipient } from "../contacts/index.ts";
import { byIdSchema, definedFields, invalid, millis, withId, type ById } from "../kernel/index.ts";
import {
  defineHook,
  personOf,
  runHook,
  showsOutput,
  type Command,
  type Hook,
} from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { beginConversation, findConversation, isActive } from "./begin.ts";
import {
  addNoteSchema,
  labelConversationSchema,
  openConversationSchema,
  updateConversationSchema,
  type AddNote,
  type LabelConversation,
  type OpenConversation,
  type UpdateConversation,
} from "./input-types.ts";
import { conversations, notes, type ConversationRow } from "./rows.ts";
import { changeStatus, readAtNow, type StatusRequest } from "./rules.ts";
import { noteResource, showConversation } from "./show.ts";
import type { Conversation, Note } from "./types.ts";
import { changeConversation, supersededError, touchConversation } from "./write.ts";

/**
 * Opens a conversation before the first message. Returns the contact's active one on the medium if
 * there is one.
 */
export const openConversation: Command<OpenConversation, Conversation> = {
  kind: "command",
  name: "conversations.open",
  input: () => openConversationSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { to, medium = "text" }, { services }) {
    const known = await findRecipient(tx, medium, to);
    const current = known && (await findConversation(tx, known));
    // An erasure under way must find the stored response (`touchConversation`).
    if (isActive(current)) return showConversation(tx, tx.touch(conversations, current));
    const identity = known ?? (await createContactFor(tx, services, medium, to));
    return showConversation(tx, await beginConversation(tx, identity, current));
  },
};

/**
 * Runs after an update opened a closed conversation again, or snoozed it. It does not run when a
 * reply or a contact's message opens one.
 */
export const onConversationReopened: Hook<ReopenedConversation> =
  defineHook("conversation reopened");

interface ReopenedConversation {
  readonly conversation: ConversationRow;
  /** When it was closed, in milliseconds since the epoch. */
  readonly closed_at: number;
}

/** Opens, snoozes or closes a conversation, or changes its other fields. */
export const updateConversation: Command<UpdateConversation & ById, Conversation> = {
  kind: "command",
  name: "conversations.update",
  input: (limits) => withId(updateConversationSchema(limits), "The id of the conversation."),
  status: 200,
  shows: showsOutput,
  async run(tx, { id, priority, metadata, opt_out_suspected, ...input }, { services }) {
    const conversation = await touchConversation(tx, id);
    const asked = statusRequest(input);
    const change = asked && changeStatus(conversation, asked, tx.now);
    if (change?.decision === "superseded") throw await supersededError(tx, conversation);
    if (change?.decision === "invalid") throw invalid([change.error]);
    const patch: Partial<ConversationRow> = {
      ...change?.patch,
      ...definedFields({ priority, metadata }),
      ...(opt_out_suspected === undefined ? {} : { opt_out_suspected: null }),
    };
    const changed = await changeConversation(tx, conversation, patch);
    const { closed_at } = conversation;
    if (closed_at !== null && changed.closed_at === null) {
      await runHook(tx, services, onConversationReopened, { conversation: changed, closed_at });
    }
    return showConversation(tx, changed);
  },
};

/** Returns the requested status. Undefined if the input asks for none. */
function statusRequest({
  status,
  snoozed_until,
}: Pick<UpdateConversation, "status" | "snoozed_until">): StatusRequest | undefined {
  if (status !== "snoozed") return status && { status };
  if (snoozed_until === undefined) {
    throw new TypeError("the input schema requires the end of a snooze");
  }
  return { status, snoozed_until: millis(snoozed_until) };
}

export const labelConversation: Command<LabelConversation & ById, Conversation> = {
  kind: "command",
  name: "conversations.setLabels",
  input: () => withId(labelConversationSchema, "The id of the conversation."),
  status: 200,
  shows: showsOutput,
  run: (tx, { id, labels }) => change(tx, id, () => ({ labels })),
};

/** Marks a conversation as read up to its last message. */
export const markConversationRead: Command<ById, Conversation> = {
  kind: "command",
  name: "conversations.markRead",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  run: (tx, { id }) =>
    change(tx, id, (row) => ({
      unread_count: 0,
      unread: null,
      // Without unread messages nothing changes, so no event is published.
      read_at: row.unread_count === 0 ? row.read_at : readAtNow(row, tx.now),
    })),
};

/** Marks a conversation as unread, so that it counts at least one unread message. */
export const markConversationUnread: Command<ById, Conversation> = {
  kind: "command",
  name: "conversations.markUnread",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  run: (tx, { id }) =>
    change(tx, id, ({ unread_count }) => ({
      unread_count: Math.max(1, unread_count),
      unread: true,
    })),
};

async function change(
  tx: Tx,
  id: string,
  patch: (row: ConversationRow) => Partial<ConversationRow>,
): Promise<Conversation> {
  const conversation = await touchConversation(tx, id);
  const changed = await changeConversation(tx, conversation, patch(conversation));
  return showConversation(tx, changed);
}

/** Adds a note. The contact never sees it. */
export const addNote: Command<AddNote & ById, Note> = {
  kind: "command",
  name: "conversations.addNote",
  input: () => withId(addNoteSchema, "The id of the conversation."),
  status: 201,
  shows: showsOutput,
  async run(tx, { id, body, author_id }, { caller }) {
    const person = personOf(caller, author_id);
    const conversation = await touchConversation(tx, id);
    const note = tx.insert(notes, {
      conversation_id: conversation.id,
      id: tx.drawId("note"),
      author_type: "human",
      author_id: person ?? null,
      body,
      created_at: tx.now,
    });
    return noteResource(note);
  },
};
