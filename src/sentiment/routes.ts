import { getContactSentiment } from "./reads.ts";
import { contactSentimentSchema } from "../contacts/index.ts";
import type { ApiRoute } from "../operations/index.ts";

export const sentimentRoutes: readonly ApiRoute[] = [
  {
    tag: "Contacts",
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/sentiment",
    operation: getContactSentiment,
    summary: "Get a contact's sentiment",
    description:
      "Returns the contact's current sentiment, its trend, and the scores of up to 20 of its " +
      "messages, newest first.",
    response: contactSentimentSchema,
  },
];
