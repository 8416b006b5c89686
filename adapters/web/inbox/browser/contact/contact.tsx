import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type {
  Contact as Person,
  ContactSentiment,
  Conversation,
  Page,
} from "../../../../../src/index.ts";
import {
  api,
  Avatar,
  Badge,
  Button,
  date,
  ErrorState,
  Icon,
  IconButton,
  linkTo,
  may,
  shortTime,
  Skeleton,
  type Tone,
} from "../../../shared/browser/index.ts";
import { ConsentSection } from "./consent.tsx";
import { ContactDetails } from "./contact-details.tsx";
import { showContact } from "./contact-visibility.ts";
import { EraseDialog } from "./erase-dialog.tsx";
import { MergeDialog } from "./merge-dialog.tsx";
import { Observations } from "./observations.tsx";
import { Loaded, Section, useResource } from "./section.tsx";
import { SentimentChart } from "./sentiment-chart.tsx";
import { conversation } from "../state/conversations.ts";
import { now } from "../state/now.ts";
import { activityOf } from "../state/views.ts";
import { t } from "../texts.ts";
import { contactName, mediumName } from "../words.ts";

/** The contact of the open conversation. */
export function Contact({ id }: { readonly id: string }): JSX.Element | null {
  const row = conversation(id);
  if (row === undefined) return null;
  return <ContactOf key={row.contact.id} id={row.contact.id} conversationId={id} />;
}

interface ContactOfProps {
  readonly id: string;
  readonly conversationId: string;
}

function ContactOf({ id, conversationId }: ContactOfProps): JSX.Element {
  const contact = useResource((signal) => api.get<Person>(`v1/contacts/${id}`, {}, { signal }), id);
  const { data, error } = contact.state.value;
  const [dialog, setDialog] = useState<"merge" | "erase">();
  return (
    <aside class="contact" aria-label={t("contact")} tabIndex={-1}>
      <header class="contact-header">
        <h2 class="grow">{t("contact")}</h2>
        <IconButton
          icon="close"
          label={t("hideContact")}
          shortcut="c"
          onClick={() => showContact(false)}
        />
      </header>
      {data === undefined && error === undefined && <Skeleton rows={4} />}
      {data === undefined && error !== undefined && (
        <ErrorState error={error} onRetry={() => void contact.reload()} />
      )}
      {data !== undefined && (
        <div class="contact-sections">
          <Head contact={data} />
          <ContactDetails contact={data} onChange={(next) => contact.set(next)} />
          <ConsentSection contact={data} />
          <Sentiment contact={data} />
          <Observations id={id} conversationId={conversationId} />
          <Others id={id} conversationId={conversationId} />
          {may("contacts:write") && (
            <Section title={t("dangerZone")}>
              <div class="section-buttons">
                <Button isSmall icon="merge" onClick={() => setDialog("merge")}>
                  {t("merge")}
                </Button>
                <Button isSmall icon="trash" onClick={() => setDialog("erase")}>
                  {t("erase")}
                </Button>
              </div>
            </Section>
          )}
          {dialog === "merge" && (
            <MergeDialog
              contact={data}
              onClose={() => setDialog(undefined)}
              onMerged={(next) => contact.set(next)}
            />
          )}
          {dialog === "erase" && (
            <EraseDialog contact={data} onClose={() => setDialog(undefined)} />
          )}
        </div>
      )}
    </aside>
  );
}

function Head({ contact }: { readonly contact: Person }): JSX.Element {
  const name = contactName(contact);
  return (
    <div class="contact-head">
      <Avatar name={name} seed={contact.id} size="large" />
      <div class="grow">
        <p class="contact-name">
          <bdi>{name}</bdi>
        </p>
        <p class="muted">{t("contactSince", { time: date(contact.created_at) })}</p>
      </div>
      {contact.opted_out && <Badge tone="bad">{t("consentOut")}</Badge>}
    </div>
  );
}

const tones: { readonly [label: string]: Tone } = {
  positive: "good",
  neutral: "neutral",
  negative: "bad",
};

const sentimentName = (label: string): string =>
  label === "positive"
    ? t("sentimentPositive")
    : label === "negative"
      ? t("sentimentNegative")
      : t("sentimentNeutral");

const trendName = (trend: ContactSentiment["trend"]): string =>
  ({
    rising: t("sentimentRising"),
    steady: t("sentimentSteady"),
    falling: t("sentimentFalling"),
  })[trend];

function Sentiment({ contact }: { readonly contact: Person }): JSX.Element {
  const { id } = contact;
  const sentiment = useResource(
    (signal) => api.get<ContactSentiment>(`v1/contacts/${id}/sentiment`, {}, { signal }),
    id,
  );
  const label = sentiment.data?.current?.label;
  return (
    <Section
      title={t("sentiment")}
      action={label && <Badge tone={tones[label] ?? "neutral"}>{sentimentName(label)}</Badge>}
    >
      <Loaded of={sentiment}>
        {({ messages, trend }) =>
          messages.length === 0 ? (
            <p class="muted">{t("sentimentNone")}</p>
          ) : (
            <>
              <SentimentChart messages={messages} />
              <p class="muted">
                {t("sentimentChart", { count: messages.length })}
                {messages.length > 1 && `, ${trendName(trend)}`}
              </p>
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

function Others({ id, conversationId }: ContactOfProps): JSX.Element {
  const others = useResource(
    (signal) =>
      api.get<Page<Conversation>>(`v1/contacts/${id}/conversations`, { limit: 20 }, { signal }),
    id,
  );
  const rows = others.data?.data.filter((row) => row.id !== conversationId) ?? [];
  return (
    <Section title={t("otherConversations")}>
      <Loaded of={others}>
        {() => rows.length === 0 && <p class="muted">{t("otherNone")}</p>}
      </Loaded>
      <ul class="others">
        {rows.map((row) => (
          <li key={row.id}>
            <a class="other" href={linkTo([row.status === "open" ? "all" : row.status, row.id])}>
              <Icon name={row.medium === "webchat" ? "chat" : "phone"} />
              <bdi class="grow truncate">{row.last_message?.preview || mediumName(row.medium)}</bdi>
              <time class="muted" dateTime={activityOf(row)}>
                {shortTime(activityOf(row), now.value)}
              </time>
            </a>
          </li>
        ))}
      </ul>
    </Section>
  );
}
