import { conversationJobs } from "./jobs.ts";
import { conversationLabels, conversations, notes } from "./rows.ts";
import { conversationRoutes } from "./routes.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  type CommandOptions,
  method,
  type Module,
  query,
  queryById,
  queryByIdAndInput,
} from "../operations/index.ts";
import {
  addNote,
  labelConversation,
  markConversationRead,
  openConversation,
  updateConversation,
} from "./commands.ts";
import { listConversations } from "./list.ts";
import { getConversation, listContactConversations, listNotes } from "./reads.ts";

const conversationHandles = {
  conversations: {
    open: command(openConversation),
    get: queryById(getConversation),
    list: query(listConversations),
    update: commandByIdAndInput(updateConversation),
    notes: queryByIdAndInput(listNotes),
    addNote: commandByIdAndInput(addNote),
    setLabels: method(
      ({ change }) =>
        (id: string, labels: readonly string[], options?: CommandOptions) =>
          change(labelConversation, { id, labels }, options),
    ),
    markRead: commandById(markConversationRead),
  },
  contacts: {
    conversations: queryByIdAndInput(listContactConversations),
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
