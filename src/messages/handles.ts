import { previewMessage } from "./preview.ts";
import {
  getMessage,
  getTimeline,
  listContactMessages,
  listConversationMessages,
  listMessages,
} from "./reads.ts";
import { reply } from "./reply.ts";
import { sendBatch, sendMessage } from "./send.ts";
import type { PreviewMessage } from "./input-types.ts";
import { cancelMessage, editMessage } from "./waiting-messages.ts";
import {
  command,
  commandById,
  commandByIdAndInput,
  method,
  query,
  queryById,
} from "../operations/index.ts";

export const messageHandles = {
  messages: {
    send: command(sendMessage),
    batch: command(sendBatch),
    preview: method(
      ({ change }) =>
        (input: PreviewMessage) =>
          change(previewMessage, input, undefined),
    ),
    get: queryById(getMessage),
    list: query(listMessages),
    timeline: queryById(getTimeline),
    edit: commandByIdAndInput(editMessage),
    cancel: commandById(cancelMessage),
  },
  contacts: {
    messages: queryById(listContactMessages),
  },
  conversations: {
    messages: queryById(listConversationMessages),
    reply: commandByIdAndInput(reply),
  },
};
