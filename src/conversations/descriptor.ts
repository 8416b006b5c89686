import { conversationJobs } from "./jobs.ts";
import { conversationLabels, conversations, notes } from "./rows.ts";
import { conversationHandles } from "./handles.ts";
import { conversationRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

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
