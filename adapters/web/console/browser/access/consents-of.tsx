import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Consent, Consents } from "../../../../../src/index.ts";
import {
  ActionDialog,
  api,
  Badge,
  Button,
  dateTime,
  Icon,
  linkTo,
  LoadState,
  may,
  shownAddress,
  TextField,
  toast,
  useResource,
  type Tone,
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
  const [changing, setChanging] = useState<Consent>();
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
        <ChangeDialog
          consent={changing}
          path={path}
          onClose={() => setChanging(undefined)}
          onDone={() => {
            void resource.reload();
            onChanged();
          }}
        />
      )}
    </Card>
  );
}

const tones: { readonly [status in Consent["status"]]: Tone } = {
  opted_in: "good",
  opted_out: "bad",
  unknown: "neutral",
};

const statusName = (status: Consent["status"]): string =>
  ({ opted_in: t("optedIn"), opted_out: t("optedOut"), unknown: t("consentUnknown") })[status];

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
        <Badge tone={tones[status]}>{statusName(status)}</Badge>
        <span class="grow" />
        {may("contacts:write") && (
          <Button isSmall onClick={onChange}>
            {t(status === "opted_out" ? "optIn" : "optOut")}
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
            <span class={`timeline-row-icon tone-${tones[proven]}`}>
              <Icon name={proven === "opted_in" ? "check" : "close"} />
            </span>
            <div class="grow">
              <p class="timeline-row-title">
                {statusName(proven)} · {source}
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

interface ChangeDialogProps {
  readonly consent: Consent;
  readonly path: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function ChangeDialog({ consent, path, onDone, onClose }: ChangeDialogProps): JSX.Element {
  const [detail, setDetail] = useState("");
  const status = consent.status === "opted_out" ? "opted_in" : "opted_out";
  const action = t(status === "opted_in" ? "optIn" : "optOut");
  return (
    <ActionDialog
      title={`${action}: ${shownAddress(consent.address)}`}
      confirm={action}
      kind={status === "opted_in" ? "primary" : "danger"}
      canConfirm={status === "opted_out" || detail.trim() !== ""}
      onClose={onClose}
      onConfirm={async () => {
        const body = { status, ...(detail.trim() !== "" && { detail: detail.trim() }) };
        await api.put(`${path}/${consent.medium}`, body);
        toast({ message: t("consentChanged") });
        onClose();
        onDone();
      }}
    >
      {(problemOf) => (
        <>
          <p>{t(status === "opted_in" ? "optInHint" : "optOutHint")}</p>
          <TextField
            label={t("evidence")}
            isOptional={status === "opted_out"}
            placeholder={t("evidenceHint")}
            problem={problemOf("/detail")}
            value={detail}
            onChange={setDetail}
          />
        </>
      )}
    </ActionDialog>
  );
}
