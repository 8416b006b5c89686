import type { JSX } from "preact";
import type { ContactSentiment } from "../../../../../src/index.ts";
import { dateTime, number } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

const height = 56;
const width = 240;
const gap = 2;
/** The server keeps this many scores. Fewer bars are no wider. */
const slots = 20;

/** The score of each message, oldest first. The tooltip of a bar shows score and time. */
export function SentimentChart(props: {
  readonly messages: ContactSentiment["messages"];
}): JSX.Element {
  const messages = props.messages.toReversed();
  const step = width / Math.max(messages.length, slots);
  const middle = height / 2;
  return (
    <svg
      class="sentiment-chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={t("sentimentChart", { count: messages.length })}
    >
      <line x1="0" x2={width} y1={middle} y2={middle} class="sentiment-axis" />
      {messages.map(({ message_id, score, created_at }, index) => {
        const size = Math.max(1.5, Math.abs(score) * (middle - 2));
        return (
          <rect
            key={message_id}
            class={score < 0 ? "is-negative" : "is-positive"}
            data-tooltip={t("sentimentPoint", {
              score: number(score, { maximumFractionDigits: 2, signDisplay: "exceptZero" }),
              time: dateTime(created_at),
            })}
            x={index * step}
            y={score < 0 ? middle : middle - size}
            width={step - gap}
            height={size}
            rx="1.5"
          />
        );
      })}
    </svg>
  );
}
