import { mail, mailboxes, webchatSessions } from "./rows.ts";
import { webchatHandles } from "./handles.ts";
import { webchatRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const webchatModule: Module<object, typeof webchatHandles> = {
  collections: [webchatSessions, mailboxes, mail],
  tags: [
    {
      name: "Webchat",
      description: "Sessions for visitors of your pages, and the requests of their browsers.",
    },
  ],
  routes: webchatRoutes,
  handles: webchatHandles,
};
