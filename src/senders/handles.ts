import { createSender, removeSender, updateSender } from "./commands.ts";
import { listSenders } from "./reads.ts";
import { command, commandById, commandByIdAndInput, query } from "../operations/index.ts";

export const senderHandles = {
  senders: {
    create: command(createSender),
    list: query(listSenders),
    update: commandByIdAndInput(updateSender),
    remove: commandById(removeSender),
  },
};
