import { getContactSentiment } from "./get.ts";
import { contactSentimentSchema } from "../contacts/index.ts";
import type { Route } from "../operations/index.ts";

export const sentimentRoutes: readonly Route[] = [
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/sentiment",
    operation: getContactSentiment,
    summary: "Get a contact's sentiment",
    description:
      "From the contact's own words: how it is now, where it goes, and up to 20 messages that moved it, newest first.",
    response: contactSentimentSchema,
  },
];
