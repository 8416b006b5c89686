import { mail, mailboxes, webchatSessions } from "./rows.ts";
import { webchatRoutes } from "./routes.ts";
import { type CommandOptions, method, type Module } from "../operations/index.ts";
import { openWebchatSession } from "./sessions.ts";
import type { OpenWebchatSession } from "./types.ts";

const webchatHandles = {
  webchat: {
    open: method(
      ({ change }) =>
        (input: OpenWebchatSession = {}, options?: CommandOptions) =>
          change(openWebchatSession, input, options),
    ),
  },
};

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
