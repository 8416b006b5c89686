import { consentRoutes } from "./routes.ts";
import { type CommandOptions, method, type Module, queryById } from "../operations/index.ts";
import { changeConsent } from "./change-consent.ts";
import { getConsents } from "./reads.ts";
import type { ConsentMedium, SetConsent } from "../contacts/index.ts";

const consentHandles = {
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

export const consentsModule: Module<object, typeof consentHandles> = {
  routes: consentRoutes,
  handles: consentHandles,
};
