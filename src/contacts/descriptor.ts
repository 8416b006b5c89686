import { consentEvidence, consents, contactLabels, contacts, identities } from "./rows.ts";
import { contactHandles } from "./handles.ts";
import { contactRoutes, contactSearchRoutes } from "./routes.ts";
import type { Module } from "../operations/index.ts";

export const contactsModule: Module<object, typeof contactHandles> = {
  collections: [contacts, contactLabels, identities, consents, consentEvidence],
  tags: [{ name: "Contacts", description: "The people that an account exchanges messages with." }],
  routes: [...contactRoutes, ...contactSearchRoutes],
  handles: contactHandles,
};
