import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ContactSentiment } from "../../../../../src/index.ts";
import { dateTime, may, number, stepOf } from "../../../shared/browser/index.ts";
import { goToMessage } from "../state/thread.ts";
import { t } from "../texts.ts";
import { uncoverThread } from "./contact-visibility.ts";

const height = 56;
const width = 240;
const gap = 2;
/** The server keeps this many scores. Fewer bars are no wider. */
const slots = 20;

interface SentimentChartProps {
  readonly messages: ContactSentiment["messages"];
}

/**
 * The score of each message, oldest first. A bar leads to its message if the person may see it. Tab
 * reaches one of the bars, and arrow keys move between them.
 */
export function SentimentChart(props: SentimentChartProps): JSX.Element {
  const messages = props.messages.toReversed();
  const chart = useRef<SVGSVGElement>(null);
  const [reached, setReached] = useState<string>();
  const isKnown = messages.some(({ message_id }) => message_id === reached);
  const tabStop = isKnown ? reached : messages.at(-1)?.message_id;
  const step = width / Math.max(messages.length, slots);
  const onKeyDown = (event: KeyboardEvent): void => {
    const bars = Array.from(chart.current?.querySelectorAll<SVGGElement>("[tabindex]") ?? []);
    const next = neighbour(event, bars);
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <svg
      ref={chart}
      class="sentiment-chart"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMinYMid"
      role="group"
      aria-label={t("sentimentChart", { count: messages.length })}
      onKeyDown={onKeyDown}
    >
      <line x1="0" x2={width} y1={height / 2} y2={height / 2} class="sentiment-axis" />
      {messages.map((message, index) => (
        <Bar
          key={message.message_id}
          message={message}
          x={index * step}
          width={step - gap}
          isTabStop={message.message_id === tabStop}
          onReach={() => setReached(message.message_id)}
        />
      ))}
    </svg>
  );
}

/** The bar that a key moves to. */
function neighbour(event: KeyboardEvent, bars: readonly SVGGElement[]): SVGGElement | undefined {
  if (event.key === "Home") return bars[0];
  if (event.key === "End") return bars.at(-1);
  const step = stepOf(event);
  const at = bars.findIndex((each) => each === document.activeElement);
  return step === 0 ? undefined : bars[at + step];
}

interface BarProps {
  readonly message: ContactSentiment["messages"][number];
  readonly x: number;
  readonly width: number;
  readonly isTabStop: boolean;
  readonly onReach: () => void;
}

function Bar({ message, x, width, isTabStop, onReach }: BarProps): JSX.Element {
  const { message_id, score, created_at } = message;
  const middle = height / 2;
  const size = Math.max(1.5, Math.abs(score) * (middle - 2));
  const about = t("sentimentPoint", {
    score: number(score, { maximumFractionDigits: 2, signDisplay: "exceptZero" }),
    time: dateTime(created_at),
  });
  const isButton = may("conversations:read") && may("messages:read");
  const show = (): void => {
    if (!isButton) return;
    uncoverThread();
    void goToMessage(message_id);
  };
  return (
    <g
      class={isButton ? "sentiment-bar is-button" : "sentiment-bar"}
      role={isButton ? "button" : "img"}
      tabIndex={isTabStop ? 0 : -1}
      aria-label={isButton ? t("sentimentShow", { point: about }) : about}
      data-tooltip={about}
      onFocus={onReach}
      onClick={show}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        show();
      }}
    >
      {/* A small score has a small bar, and the whole column answers to the pointer. */}
      <rect x={x} y="0" width={width} height={height} />
      <rect
        class={score < 0 ? "is-negative" : score > 0 ? "is-positive" : "is-neutral"}
        x={x}
        y={score < 0 ? middle : middle - size}
        width={width}
        height={size}
        rx="1.5"
      />
    </g>
  );
}
