import { getConsents } from "./get.ts";
import { changeConsent } from "./set.ts";
import { consentsSchema } from "../contacts/index.ts";
import type { Route } from "../operations/index.ts";

const tag = "Contacts";

export const consentRoutes: readonly Route[] = [
  {
    tag,
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/consents",
    operation: getConsents,
    summary: "Get a contact's consents",
    description: "What each of its addresses allows, with the 50 newest pieces of evidence.",
    response: consentsSchema,
  },
  {
    tag,
    scopes: ["contacts:write"],
    method: "PUT",
    path: "/v1/contacts/:id/consents/:medium",
    operation: changeConsent,
    summary: "Opt a contact in or out",
    description:
      "All its addresses on the medium (`text`, `webchat` or `all`). What is queued or scheduled for one that opted out fails " +
      "at its hand-over with `recipient_opted_out`. Answers what they allow now, and of the evidence what this made.",
    response: consentsSchema,
  },
];
