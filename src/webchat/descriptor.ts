import { mail, mailboxes, webchatSessions } from "./rows.ts";
import { webchatRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const webchatModule: Module = {
  collections: [webchatSessions, mailboxes, mail],
  tags: [
    {
      name: "Webchat",
      description:
        "Visitors of your pages: sessions for their browsers, and what browsers do with them.",
    },
  ],
  routes: [...webchatRoutes],
};
