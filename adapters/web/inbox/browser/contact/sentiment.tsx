import type { JSX } from "preact";
import type { Contact, ContactSentiment } from "../../../../../src/index.ts";
import { api, Badge, type Tone } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { Loaded, Section, useContactResource } from "./section.tsx";
import { SentimentChart } from "./sentiment-chart.tsx";

type Label = NonNullable<ContactSentiment["current"]>["label"];

const tones: { readonly [label in Label]: Tone } = {
  positive: "good",
  neutral: "neutral",
  negative: "bad",
};

const labelName = (label: Label): string =>
  ({
    positive: t("sentimentPositive"),
    neutral: t("sentimentNeutral"),
    negative: t("sentimentNegative"),
  })[label];

const trendName = (trend: ContactSentiment["trend"]): string =>
  ({
    rising: t("sentimentRising"),
    steady: t("sentimentSteady"),
    falling: t("sentimentFalling"),
  })[trend];

/** How the contact felt in the last messages. */
export function Sentiment({ contact }: { readonly contact: Contact }): JSX.Element {
  const { id, sentiment: known } = contact;
  const sentiment = useContactResource(id, (signal) =>
    api.get<ContactSentiment>(`v1/contacts/${id}/sentiment`, { signal }),
  );
  const label = sentiment.data?.current?.label;
  return (
    <Section
      title={t("sentiment")}
      action={label && <Badge tone={tones[label]}>{labelName(label)}</Badge>}
    >
      <Loaded
        of={sentiment}
        height={known === null ? "1lh" : "calc(3.5rem + var(--space-3) + 1lh)"}
      >
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
