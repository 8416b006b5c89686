import type { JSX } from "preact";
import type { Consent, Consents } from "../../../../../src/index.ts";
import {
  api,
  Button,
  ConsentBadge,
  consentChange,
  ConsentDialog,
  consentName,
  consentTones,
  dateTime,
  Icon,
  linkTo,
  LoadState,
  may,
  shownAddress,
  useOpened,
  useResource,
} from "../../../shared/browser/index.ts";
import { useCoalesced, useLive } from "../live.ts";
import { Card } from "../parts/layout.tsx";
import { t } from "../texts.ts";

const refreshDelayMs = 200;

interface ConsentsOfProps {
  readonly id: string;
  readonly onChanged: () => void;
}

/** The consents of one contact. */
export function ConsentsOf({ id, onChanged }: ConsentsOfProps): JSX.Element {
  const path = `v1/contacts/${encodeURIComponent(id)}/consents`;
  const resource = useResource<Consents>((signal) => api.get(path, { signal }), [path]);
  const refresh = useCoalesced(() => resource.reload(), refreshDelayMs);
  const [changing, setChanging, close] = useOpened<Consent>();
  useLive({
    onEvent: ({ type, data }) => {
      const isConsent = type === "contact.opted_in" || type === "contact.opted_out";
      if (isConsent && data.contact.id === id) refresh();
    },
    onGap: refresh,
  });
  const { data } = resource;
  return (
    <Card title={t("consent")}>
      <LoadState of={resource} />
      {data?.data.length === 0 && <p class="muted">{t("consentNoAddress")}</p>}
      {data?.data.map((consent) => (
        <ConsentView
          key={`${consent.medium} ${consent.address}`}
          consent={consent}
          onChange={() => setChanging(consent)}
        />
      ))}
      {changing && (
        <ConsentDialog
          contactId={id}
          consent={changing}
          onClose={close}
          onDone={() => {
            void resource.reload();
            onChanged();
          }}
        />
      )}
    </Card>
  );
}

interface ConsentViewProps {
  readonly consent: Consent;
  readonly onChange: () => void;
}

function ConsentView({ consent, onChange }: ConsentViewProps): JSX.Element {
  const { medium, address, status, evidence, opted_out_of } = consent;
  return (
    <section class="consent-address" aria-label={address}>
      <header class="card-header">
        <bdi class="strong">{shownAddress(address)}</bdi>
        <span class="muted">{t(medium === "text" ? "mediumText" : "channelWebchat")}</span>
        <ConsentBadge status={status} />
        <span class="grow" />
        {may("contacts:write") && (
          <Button isSmall onClick={onChange}>
            {consentChange(consent)}
          </Button>
        )}
      </header>
      {opted_out_of.length > 0 && (
        <p class="muted">{t("optedOutOf", { senders: opted_out_of.join(", ") })}</p>
      )}
      <h3 class="muted">{t("evidence")}</h3>
      {evidence.length === 0 && <p class="muted">{t("evidenceNone")}</p>}
      <ol class="timeline-list">
        {evidence.map(({ status: proven, source, detail, sender, message_id, at }, index) => (
          // The newest is first, so the number of older changes of the same time is constant.
          <li
            key={`${at} ${evidence.slice(index).filter((each) => each.at === at).length}`}
            class="timeline-row"
          >
            <span class={`timeline-row-icon tone-${consentTones[proven]}`}>
              <Icon name={proven === "opted_in" ? "check" : "close"} />
            </span>
            <div class="grow">
              <p class="timeline-row-title">
                {consentName(proven)} · {source}
              </p>
              {detail !== null && <bdi class="muted">{detail}</bdi>}
              {sender !== null && <p class="muted">{shownAddress(sender)}</p>}
              {message_id !== null && (
                <a class="mono" href={linkTo(["messages", message_id])}>
                  {message_id}
                </a>
              )}
            </div>
            <time class="muted nowrap">{dateTime(at)}</time>
          </li>
        ))}
      </ol>
    </section>
  );
}
