import { listContactConversations } from "./list-of-contact.ts";
import { addNote } from "./add-note.ts";
import { getConversation } from "./get.ts";
import { labelConversation } from "./set-labels.ts";
import { listConversations } from "./list.ts";
import { listNotes } from "./list-notes.ts";
import { openConversation } from "./open.ts";
import { readConversation } from "./mark-read.ts";
import { updateConversation } from "./update.ts";
import { conversationSchema, noteSchema } from "./types.ts";
import { pageSchema } from "../kernel/index.ts";
import type { Route } from "../operations/index.ts";

const tag = "Conversations";
const read = { tag, scopes: ["conversations:read"] } as const;
const write = { tag, scopes: ["conversations:write"] } as const;
const conversation = { response: conversationSchema } as const;

export const conversationRoutes: readonly Route[] = [
  {
    ...read,
    method: "GET",
    path: "/v1/conversations",
    operation: listConversations,
    summary: "List conversations",
    description:
      "The inbox over all channels: newest activity first. Of one contact, in the order in which they began.",
    response: pageSchema(conversationSchema).meta({ id: "ConversationPage" }),
  },
  {
    ...write,
    ...conversation,
    method: "POST",
    path: "/v1/conversations",
    operation: openConversation,
    summary: "Open a conversation",
    description: "Where the contact has an active one on the medium, that is the answer.",
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
    summary: "Open, snooze or close a conversation, or edit it",
    description:
      "A closed one can be opened again while no newer one has taken its place; then: `conflict`.",
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
    summary: "Write a note",
    description: "The contact never sees it.",
    response: noteSchema,
  },
  {
    ...write,
    ...conversation,
    method: "PUT",
    path: "/v1/conversations/:id/labels",
    operation: labelConversation,
    summary: "Set the labels of a conversation",
  },
  {
    ...write,
    ...conversation,
    method: "POST",
    path: "/v1/conversations/:id/read",
    operation: readConversation,
    summary: "Mark a conversation as read",
    description: "Up to its last message.",
  },
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/conversations",
    operation: listContactConversations,
    summary: "List a contact's conversations",
    description:
      "The one that began last first. Of a merged contact, those of the one that it is now.",
    response: pageSchema(conversationSchema).meta({ id: "ContactConversationPage" }),
  },
];
