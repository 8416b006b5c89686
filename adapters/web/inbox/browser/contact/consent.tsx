import type { JSX } from "preact";
import type { Consent, Consents, Contact } from "../../../../../src/index.ts";
import {
  api,
  Button,
  ConsentBadge,
  consentChange,
  ConsentDialog,
  consentName,
  dateTime,
  may,
  shortTime,
  shownAddress,
  useOpened,
} from "../../../shared/browser/index.ts";
import { now } from "../state/now.ts";
import { t } from "../texts.ts";
import { mediumName } from "../words.ts";
import { Loaded, Section, useContactResource } from "./section.tsx";

const sources = {
  keyword: () => t("evidenceKeyword"),
  api: () => t("evidenceApi"),
  import: () => t("evidenceImport"),
  carrier: () => t("evidenceCarrier"),
  human: () => t("evidenceHuman"),
};

/** The consent of each address, with its evidence. */
export function ConsentSection({ contact }: { readonly contact: Contact }): JSX.Element {
  const { id } = contact;
  const [changing, setChanging, close] = useOpened<Consent>();
  const consents = useContactResource(id, (signal) =>
    api.get<Consents>(`v1/contacts/${id}/consents`, { signal }),
  );
  return (
    <Section title={t("consent")}>
      <Loaded of={consents} height="3.25rem">
        {({ data }) =>
          data.map((each) => (
            <div key={`${each.medium} ${each.address}`} class="consent">
              <div class="consent-head">
                <bdi class="grow truncate">
                  {each.medium === "text" ? shownAddress(each.address) : mediumName(each.medium)}
                </bdi>
                <ConsentBadge status={each.status} />
              </div>
              {each.evidence.length > 0 && (
                <details>
                  <summary>{t("evidence")}</summary>
                  <ul>
                    {each.evidence.map((evidence) => (
                      <li key={evidence.at} class="evidence muted">
                        <span>
                          {consentName(evidence.status)}: {sources[evidence.source]()}
                          {evidence.detail !== null && (
                            <>
                              {", "}
                              <bdi>{evidence.detail}</bdi>
                            </>
                          )}
                        </span>
                        <time dateTime={evidence.at} data-tooltip={dateTime(evidence.at)}>
                          {shortTime(evidence.at, now.value)}
                        </time>
                      </li>
                    ))}
                  </ul>
                </details>
              )}
              {may("contacts:write") && (
                <Button isSmall onClick={() => setChanging(each)}>
                  {consentChange(each)}
                </Button>
              )}
            </div>
          ))
        }
      </Loaded>
      {changing !== undefined && (
        <ConsentDialog
          contactId={id}
          consent={changing}
          onClose={close}
          onDone={() => void consents.reload()}
        />
      )}
    </Section>
  );
}
