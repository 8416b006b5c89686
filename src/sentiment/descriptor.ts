import { messageScores } from "./rows.ts";
import { sentimentRoutes } from "./routes.ts";
import { sentimentHookHandlers } from "./hooks.ts";
import type { Module } from "../operations/index.ts";

export const sentimentModule: Module = {
  collections: [messageScores],
  routes: [...sentimentRoutes],
  hookHandlers: sentimentHookHandlers,
};
