import { defaultSenders, senderHandOvers, senderPaces, senders } from "./rows.ts";
import { senderRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const sendersModule: Module = {
  collections: [senders, defaultSenders, senderPaces, senderHandOvers],
  tags: [{ name: "Senders", description: "The numbers and inboxes that messages come from." }],
  routes: [...senderRoutes],
};
