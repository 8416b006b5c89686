import {
  consentMediumSchema,
  contactToChange,
  identitiesOfContact,
  maxIdentities,
  setConsent,
  setConsentSchema,
  type Consent,
  type ConsentMedium,
  type Consents,
  type SetConsent,
} from "../contacts/index.ts";
import { changeConversation, currentConversation } from "../conversations/index.ts";
import { invalid, mediums, pathField, withPath, type ById } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { consentResource } from "./show.ts";

interface OfMedium extends ById {
  readonly medium: ConsentMedium;
}

/**
 * Opts all of a contact's addresses on a medium in or out. This also clears a suspected opt-out in
 * its current conversations.
 */
export const changeConsent: Command<SetConsent & OfMedium, Consents> = {
  kind: "command",
  name: "contacts.setConsent",
  input: () =>
    withPath(setConsentSchema, {
      id: pathField("The id of the contact."),
      medium: consentMediumSchema.meta({
        description:
          "The medium whose addresses change. `text` is SMS and MMS, `all` is every medium.",
      }),
    }),
  status: 200,
  shows: ({ id }) => id,
  async run(tx, { id, medium, status, detail = null }, { services }) {
    const { secret } = services;
    const contact = await contactToChange(tx, id, { hold: true });
    const changed = mediums.filter((each) => medium === "all" || medium === each);
    const identities = await Promise.all(
      changed.map((each) => tx.list(identitiesOfContact, [contact.id, each], maxIdentities)),
    );
    const addresses = identities.flat();
    if (addresses.length === 0) {
      const message =
        medium === "all"
          ? "The contact has no address. Add one first."
          : `The contact has no ${medium} address. Add one first.`;
      throw invalid([{ parameter: "medium", code: "no_address", message }]);
    }
    const data: Consent[] = [];
    for (const { medium: of, address } of addresses) {
      const statement = { status, sender: null, source: "api", message_id: null, detail } as const;
      const { consent, evidence } = await setConsent(tx, secret, {
        ...statement,
        medium: of,
        address,
      });
      data.push(consentResource(of, address, consent, [evidence]));
    }
    for (const each of changed) {
      const current = await tx.get(currentConversation, [contact.id, each]);
      if (current !== undefined) {
        await changeConversation(tx, current, { opt_out_suspected: null });
      }
    }
    return { data };
  },
};
