import {
  addNote,
  labelConversation,
  markConversationRead,
  openConversation,
  updateConversation,
} from "./commands.ts";
import { listConversations } from "./list.ts";
import { getConversation, listContactConversations, listNotes } from "./reads.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  type CommandOptions,
  method,
  query,
  queryById,
} from "../operations/index.ts";

export const conversationHandles = {
  conversations: {
    open: command(openConversation),
    get: queryById(getConversation),
    list: query(listConversations),
    update: commandByIdAndInput(updateConversation),
    notes: queryById(listNotes),
    addNote: commandByIdAndInput(addNote),
    setLabels: method(
      ({ change }) =>
        (id: string, labels: readonly string[], options?: CommandOptions) =>
          change(labelConversation, { id, labels }, options),
    ),
    markRead: commandById(markConversationRead),
  },
  contacts: {
    conversations: queryById(listContactConversations),
  },
};
