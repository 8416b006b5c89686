import { addNote } from "./add-note.ts";
import { assignConversation } from "../agents/assign.ts";
import { getConversation } from "./get.ts";
import { handBackConversation } from "../agents/hand-back.ts";
import { handOffConversation } from "../agents/hand-off-command.ts";
import { labelConversation } from "./set-labels.ts";
import { listConversationMessages } from "../messages/list-of-conversation.ts";
import { listConversations } from "./list.ts";
import { listNotes } from "./list-notes.ts";
import { openConversation } from "./open.ts";
import { readConversation } from "./mark-read.ts";
import { reply } from "../messages/reply.ts";
import { updateConversation } from "./update.ts";
import { conversationSchema, noteSchema } from "./types.ts";
import { messageSchema } from "../messages/types.ts";
import { pageSchema } from "../kernel/fields.ts";
import type { Route } from "../operations/api-route.ts";

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
    path: "/v1/conversations/:id/messages",
    operation: listConversationMessages,
    summary: "List the messages of a conversation",
    description: "From its end.",
    response: pageSchema(messageSchema).meta({ id: "ConversationMessagePage" }),
  },
  {
    tag,
    scopes: ["conversations:write", "messages:write"],
    method: "POST",
    path: "/v1/conversations/:id/messages",
    operation: reply,
    summary: "Reply as a person",
    description:
      "On the conversation's medium, to the address of its last message. The person takes the conversation over at once; a closed one is opened again.",
    response: messageSchema,
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
    method: "POST",
    path: "/v1/conversations/:id/assign",
    operation: assignConversation,
    summary: "Assign a conversation",
    description:
      "To a person, who handles it then; to an agent, which does; or to nobody: what people had waits in the queue, and what an agent had is nobody's.",
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
    ...write,
    ...conversation,
    method: "POST",
    path: "/v1/conversations/:id/handoff",
    operation: handOffConversation,
    summary: "Hand a conversation off to people",
    description:
      "It waits in the queue for the first person free. One that waits there already stays as it is.",
  },
  {
    ...write,
    ...conversation,
    method: "POST",
    path: "/v1/conversations/:id/handback",
    operation: handBackConversation,
    summary: "Hand a conversation back to its agent",
    description: "One that has no agent is nobody's then.",
  },
];
