import { attempts, inboundIds, messages, parkedReceipts, timeline } from "./rows.ts";
import { messageRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const messagesModule: Module = {
  collections: [messages, attempts, timeline, parkedReceipts, inboundIds],
  tags: [{ name: "Messages", description: "Send, schedule, follow and take back messages." }],
  routes: [...messageRoutes],
};
