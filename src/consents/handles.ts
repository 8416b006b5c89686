import { changeConsent } from "./change-consent.ts";
import { getConsents } from "./reads.ts";
import type { ConsentMedium, SetConsent } from "../contacts/index.ts";
import { type CommandOptions, method, queryById } from "../operations/index.ts";

export const consentHandles = {
  contacts: {
    consents: queryById(getConsents),
    setConsent: method(
      ({ change }) =>
        (
          id: string,
          medium: ConsentMedium,
          input: Omit<SetConsent, "id" | "medium">,
          options?: CommandOptions,
        ) =>
          change(changeConsent, { ...input, id, medium }, options),
    ),
  },
};
