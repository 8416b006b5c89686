import { pageSchema } from "../kernel/index.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  list,
  listById,
  method,
  queryById,
  type ApiRoute,
  type CommandOptions,
  type Module,
} from "../operations/index.ts";
import {
  addNote,
  labelConversation,
  markConversationRead,
  markConversationUnread,
  openConversation,
  updateConversation,
} from "./commands.ts";
import { conversationJobs } from "./jobs.ts";
import { listConversations } from "./list-inbox.ts";
import { getConversation, listContactConversations, listNotes } from "./reads.ts";
import { conversationLabels, conversations, notes } from "./rows.ts";
import { conversationSchema, noteSchema } from "./types.ts";

const tag = "Conversations";
const read = { tag, scopes: ["conversations:read"] } as const;
const write = { tag, scopes: ["conversations:write"] } as const;
const conversation = { response: conversationSchema } as const;

const conversationRoutes: readonly ApiRoute[] = [
  {
    ...read,
    method: "GET",
    path: "/v1/conversations",
    operation: listConversations,
    summary: "List conversations",
    description:
      "Lists the conversations of all channels, latest activity first. With `contact_id`, lists " +
      "them by start time, newest first. With `waiting`, and without `contact_id` and `label`, " +
      "lists hand-offs first, and then by the longest wait.",
    response: pageSchema(conversationSchema).meta({ id: "ConversationPage" }),
  },
  {
    ...write,
    ...conversation,
    method: "POST",
    path: "/v1/conversations",
    operation: openConversation,
    summary: "Open a conversation",
    description:
      "Returns the contact's active conversation on the medium, or opens one if there is none. " +
      "Nothing is sent.",
    example: { to: "+15005550001", medium: "text" },
  },
  {
    ...read,
    ...conversation,
    method: "GET",
    path: "/v1/conversations/:id",
    operation: getConversation,
    summary: "Get a conversation",
  },
  {
    ...write,
    ...conversation,
    method: "PATCH",
    path: "/v1/conversations/:id",
    operation: updateConversation,
    summary: "Update a conversation",
    description:
      "Opens, snoozes or closes the conversation, or sets its priority or metadata. Reopening a " +
      "closed conversation fails with `conflict` if a newer one has replaced it. " +
      "`conflicting_id` is the newer one.",
    example: { priority: "high", metadata: { case_id: "1042" } },
  },
  {
    ...read,
    method: "GET",
    path: "/v1/conversations/:id/notes",
    operation: listNotes,
    summary: "List the notes of a conversation",
    description: "Newest first.",
    response: pageSchema(noteSchema).meta({ id: "NotePage" }),
  },
  {
    ...write,
    method: "POST",
    path: "/v1/conversations/:id/notes",
    operation: addNote,
    summary: "Add a note",
    description: "The contact never sees it.",
    response: noteSchema,
    example: { body: "Wants to come on Monday.", author_id: "user_17" },
  },
  {
    ...write,
    ...conversation,
    method: "PUT",
    path: "/v1/conversations/:id/labels",
    operation: labelConversation,
    summary: "Set the labels of a conversation",
    description: "Replaces all labels.",
    example: { labels: ["billing", "vip"] },
  },
  {
    ...write,
    ...conversation,
    method: "POST",
    path: "/v1/conversations/:id/read",
    operation: markConversationRead,
    summary: "Mark a conversation as read",
    description: "Marks all messages up to the last one as read.",
  },
  {
    ...write,
    ...conversation,
    method: "POST",
    path: "/v1/conversations/:id/unread",
    operation: markConversationUnread,
    summary: "Mark a conversation as unread",
    description: "`unread_count` becomes at least 1, even if the contact has never written.",
  },
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/conversations",
    operation: listContactConversations,
    summary: "List a contact's conversations",
    description:
      "Lists by start time, newest first. For a merged contact, lists the conversations of the " +
      "contact that it was merged into.",
    response: pageSchema(conversationSchema).meta({ id: "ContactConversationPage" }),
  },
];

const conversationHandles = {
  conversations: {
    open: command(openConversation),
    get: queryById(getConversation),
    list: list(listConversations),
    update: commandByIdAndInput(updateConversation),
    notes: listById(listNotes),
    addNote: commandByIdAndInput(addNote),
    setLabels: method(
      ({ change }) =>
        (id: string, labels: readonly string[], options?: CommandOptions) =>
          change(labelConversation, { id, labels }, options),
    ),
    markRead: commandById(markConversationRead),
    markUnread: commandById(markConversationUnread),
  },
  contacts: {
    conversations: listById(listContactConversations),
  },
};

export const conversationsModule: Module<typeof conversationJobs, typeof conversationHandles> = {
  collections: [conversations, conversationLabels, notes],
  jobs: conversationJobs,
  tags: [
    {
      name: "Conversations",
      description: "One inbox for all channels: conversations, replies, notes and assignment.",
    },
  ],
  routes: conversationRoutes,
  handles: conversationHandles,
};
