import { consentResource } from "./resource.ts";
import {
  type Consent,
  type Consents,
  contactToChange,
  identitiesOfContact,
  mostIdentities,
  setConsent,
  type SetConsent,
  setConsentSchema,
} from "../contacts/index.ts";
import { changeConversation, currentConversation } from "../conversations/index.ts";
import { invalid, mediumSchema } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";

/** Opts all addresses that a contact has on a medium in or out. What was suspected of the contact's words is settled with that. */
export const changeConsent: Command<SetConsent, Consents> = {
  kind: "command",
  name: "contacts.setConsent",
  input: () => setConsentSchema,
  status: 200,
  shows: ({ id }) => id,
  async run(tx, { id, medium, status, detail = null }, { services }) {
    const { secret, drawId } = services;
    const contact = await contactToChange(tx, id, { hold: true });
    const media = mediumSchema.options.filter((each) => medium === "all" || medium === each);
    const owned = await Promise.all(
      media.map((each) => tx.list(identitiesOfContact, [contact.id, each], mostIdentities)),
    );
    const addresses = owned.flat();
    if (addresses.length === 0) {
      const message =
        medium === "all" ? "the contact has no address" : `the contact has no ${medium} address`;
      throw invalid([{ parameter: "medium", code: "no_address", message }]);
    }
    const data: Consent[] = [];
    for (const { medium: of, address } of addresses) {
      const word = { status, sender: null, source: "api", message_id: null, detail } as const;
      const { consent, evidence } = await setConsent(tx, drawId, secret, {
        ...word,
        medium: of,
        address,
      });
      data.push(consentResource(of, address, consent, [evidence]));
    }
    for (const each of media) {
      const current = await tx.get(currentConversation, [contact.id, each]);
      if (current !== undefined) {
        await changeConversation(tx, drawId, current, { opt_out_suspected: null });
      }
    }
    return { data };
  },
};
