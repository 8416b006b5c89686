import { defaultSenders, senderHandOvers, senderThrottles, senders } from "./rows.ts";
import { senderRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const sendersModule: Module = {
  collections: [senders, defaultSenders, senderThrottles, senderHandOvers],
  tags: [
    {
      name: "Senders",
      description: "The numbers and webchat inboxes that messages are sent from.",
    },
  ],
  routes: [...senderRoutes],
};
