import { conversationLabels, conversations, notes } from "./rows.ts";
import { conversationRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const conversationsModule: Module = {
  collections: [conversations, conversationLabels, notes],
  tags: [
    {
      name: "Conversations",
      description: "One inbox for all channels: conversations, replies, notes and assignment.",
    },
  ],
  routes: [...conversationRoutes],
};
