import { consentsSchema, type ConsentMedium, type SetConsent } from "../contacts/index.ts";
import {
  inputWith,
  method,
  queryById,
  type ApiRoute,
  type CommandOptions,
  type Module,
} from "../operations/index.ts";
import { changeConsent } from "./change-consent.ts";
import { getConsents } from "./reads.ts";

const tag = "Contacts";

const consentRoutes: readonly ApiRoute[] = [
  {
    tag,
    scopes: ["contacts:read"],
    method: "GET",
    path: "/v1/contacts/:id/consents",
    operation: getConsents,
    summary: "Get a contact's consents",
    description: "Returns the consent of each address, with its 50 newest pieces of evidence.",
    response: consentsSchema,
  },
  {
    tag,
    scopes: ["contacts:write"],
    method: "PUT",
    path: "/v1/contacts/:id/consents/:medium",
    operation: changeConsent,
    summary: "Set the consent of a contact",
    description:
      "Sets the consent of all the contact's addresses on a medium (`text`, `webchat` or `all`). " +
      "After an opt-out, queued and scheduled messages fail with `recipient_opted_out` when they " +
      "are due. Returns the new consents with the evidence that this request added.",
    response: consentsSchema,
    example: { status: "opted_in", detail: "Asked for it on the phone." },
  },
];

const consentHandles = {
  contacts: {
    consents: queryById(getConsents),
    setConsent: method(
      ({ change }) =>
        (id: string, medium: ConsentMedium, input: SetConsent, options?: CommandOptions) =>
          change(changeConsent, inputWith({ id, medium }, input), options),
    ),
  },
};

export const consentsModule: Module<object, typeof consentHandles> = {
  routes: consentRoutes,
  handles: consentHandles,
};
