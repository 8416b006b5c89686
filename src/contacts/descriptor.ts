import { contactLabels, contacts, identities } from "./rows.ts";
import { consentEvidence, consents } from "./consent-rows.ts";
import { contactRoutes } from "./routes.ts";
import { contactSearchRoutes } from "./search-routes.ts";
import type { Module } from "../operations/index.ts";

export const contactsModule: Module = {
  collections: [contacts, contactLabels, identities, consents, consentEvidence],
  tags: [{ name: "Contacts", description: "The people at the other end." }],
  routes: [...contactRoutes, ...contactSearchRoutes],
};
