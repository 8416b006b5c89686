import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Consent, Consents, Contact } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Badge,
  Button,
  dateTime,
  may,
  shortTime,
  shownAddress,
  TextField,
  type Tone,
} from "../../../shared/browser/index.ts";
import { now } from "../state/now.ts";
import { t } from "../texts.ts";
import { mediumName } from "../words.ts";
import { Loaded, Section, useContactResource } from "./section.tsx";

const shown: {
  readonly [status in Consent["status"]]: { readonly tone: Tone; readonly name: () => string };
} = {
  opted_in: { tone: "good", name: () => t("consentIn") },
  opted_out: { tone: "bad", name: () => t("consentOut") },
  unknown: { tone: "neutral", name: () => t("consentUnknown") },
};

const sources = {
  keyword: () => t("evidenceKeyword"),
  api: () => t("evidenceApi"),
  import: () => t("evidenceImport"),
  carrier: () => t("evidenceCarrier"),
  human: () => t("evidenceHuman"),
};

export function ConsentBadge({ status }: Pick<Consent, "status">): JSX.Element {
  const { tone, name } = shown[status];
  return <Badge tone={tone}>{name()}</Badge>;
}

/** The consent of each address, with its evidence. */
export function ConsentSection({ contact }: { readonly contact: Contact }): JSX.Element {
  const { id } = contact;
  const [changing, setChanging] = useState<Consent>();
  const consents = useContactResource(id, (signal) =>
    api.get<Consents>(`v1/contacts/${id}/consents`, { signal }),
  );
  return (
    <Section title={t("consent")}>
      <Loaded of={consents}>
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
                          {shown[evidence.status].name()}: {sources[evidence.source]()}
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
                  {t(each.status === "opted_out" ? "consentOptIn" : "consentOptOut")}
                </Button>
              )}
            </div>
          ))
        }
      </Loaded>
      {changing !== undefined && (
        <ConsentDialog
          id={id}
          consent={changing}
          onClose={() => setChanging(undefined)}
          onDone={() => void consents.reload()}
        />
      )}
    </Section>
  );
}

interface ConsentDialogProps {
  readonly id: string;
  readonly consent: Consent;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function ConsentDialog({ id, consent, onClose, onDone }: ConsentDialogProps): JSX.Element {
  const [detail, setDetail] = useState("");
  const isOut = consent.status === "opted_out";
  const title = t(isOut ? "consentOptIn" : "consentOptOut");
  return (
    <ActionDialog
      title={title}
      confirm={title}
      kind={isOut ? "primary" : "danger"}
      onClose={onClose}
      onConfirm={async () => {
        await api.put(`v1/contacts/${id}/consents/${consent.medium}`, {
          status: isOut ? "opted_in" : "opted_out",
          ...(detail.trim() !== "" && { detail: detail.trim() }),
        });
        onDone();
        onClose();
      }}
    >
      <TextField
        label={t("consentDetail")}
        hint={t("consentDetailHint")}
        isOptional
        maxLength={500}
        value={detail}
        onChange={setDetail}
      />
    </ActionDialog>
  );
}
