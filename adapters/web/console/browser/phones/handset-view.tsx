import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../../../../../src/index.ts";
import {
  Button,
  ConsentBadge,
  dateTime,
  ErrorState,
  explain,
  Icon,
  IconButton,
  isVisible,
  linkTo,
  newKey,
  shownAddress,
  Skeleton,
  StrangerText,
  time,
  unsentBefore,
  useSendOnce,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { shownStatus } from "../words.ts";
import { canSend, type Handset } from "./handset.ts";

interface HandsetViewProps {
  readonly handset: Handset;
  /** What happens to a message to the phone, in words. */
  readonly behavior: string;
  readonly onClose?: () => void;
}

/** One phone on screen. */
export function HandsetView({ handset, behavior, onClose }: HandsetViewProps): JSX.Element {
  const { number } = handset;
  const contact = handset.contact.value;
  const name = isVisible(contact?.name) ? contact.name : undefined;
  const followsEnd = useRef(true);
  return (
    <section class="handset" aria-label={t("phoneOf", { number })}>
      <header class="handset-header">
        <span class="handset-name grow">
          <strong>
            <bdi>{name ?? shownAddress(number)}</bdi>
          </strong>
          <span class="muted truncate" data-tooltip={behavior}>
            {name === undefined ? "" : `${shownAddress(number)} · `}
            {behavior}
          </span>
        </span>
        {contact?.opted_out === true && <ConsentBadge status="opted_out" />}
        {onClose && (
          <IconButton icon="close" isSmall label={t("phoneClose", { number })} onClick={onClose} />
        )}
      </header>
      <Screen handset={handset} followsEnd={followsEnd} />
      <Composer handset={handset} onSend={() => (followsEnd.current = true)} />
    </section>
  );
}

interface ScreenProps {
  readonly handset: Handset;
  /**
   * Whether the screen scrolls to new messages. A person who scrolled back stays there until they
   * send something.
   */
  readonly followsEnd: { current: boolean };
}

/** The phone's messages, newest at the end. */
function Screen({ handset, followsEnd }: ScreenProps): JSX.Element {
  const messages = handset.messages.value;
  const error = handset.error.value;
  const scroller = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current && followsEnd.current) current.scrollTop = current.scrollHeight;
  }, [messages]);
  return (
    <div
      class="handset-screen"
      ref={scroller}
      role="log"
      aria-label={t("phoneMessages")}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        followsEnd.current = scrollHeight - scrollTop - clientHeight < 40;
      }}
    >
      {messages === undefined &&
        (error === undefined ? (
          <Skeleton rows={2} />
        ) : (
          <ErrorState error={error} onRetry={handset.refresh} />
        ))}
      {messages?.length === 0 && <p class="handset-empty muted">{t("phoneEmpty")}</p>}
      {messages?.map((message, index) => (
        <PhoneMessage key={message.id} message={message} before={messages[index - 1]} />
      ))}
    </div>
  );
}

interface PhoneMessageProps {
  readonly message: Message;
  readonly before: Message | undefined;
}

/** The statuses of messages that have reached the other side. */
const arrived = new Set<Message["status"]>(["delivered", "read", "received"]);
/** After a longer pause, the time stands above the next message. */
const longPauseMs = 10 * 60_000;

function PhoneMessage({ message, before }: PhoneMessageProps): JSX.Element {
  const { id, direction, body, media, created_at, status, error, author } = message;
  const isOwn = direction === "inbound";
  const shown = shownStatus(status);
  const pause =
    before === undefined ? Infinity : Date.parse(created_at) - Date.parse(before.created_at);
  return (
    <>
      {pause > longPauseMs && <p class="handset-time muted">{dateTime(created_at)}</p>}
      <div class={`text ${isOwn ? "is-own" : ""} ${arrived.has(status) ? "" : "is-underway"}`}>
        <div class="text-bubble" dir="auto">
          {body === null ? <em>{t("redacted")}</em> : <StrangerText>{body}</StrangerText>}
          {media.map(({ url }) => (
            <span key={url} class="text-media">
              <Icon name="image" />
              <bdi class="truncate">{url}</bdi>
            </span>
          ))}
        </div>
        <a class={`text-state tone-${shown.tone}`} href={linkTo(["messages", id])}>
          <Icon name={isOwn ? "check" : shown.icon} />
          {isOwn ? t("phoneTexted") : shown.label}
          {author.type === "agent" && <span>· {t("authorAgent")}</span>}
          <time dateTime={created_at}>· {time(created_at)}</time>
        </a>
        {error !== null && (
          <p class="text-error">
            <bdi>{error.message}</bdi>
          </p>
        )}
      </div>
    </>
  );
}

interface ComposerProps {
  readonly handset: Handset;
  readonly onSend: () => void;
}

function Composer({ handset, onSend }: ComposerProps): JSX.Element {
  const { draft } = handset;
  const side = handset.side.value;
  const body = draft.value;
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const sendOnce = useSendOnce();
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    onSend();
    try {
      await work();
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(false);
    }
  };
  const send = async (): Promise<void> => {
    // The field empties at once, so that what is typed meanwhile stays.
    draft.value = "";
    try {
      await sendOnce(`${side} ${body}`, (key) =>
        side === "phone" ? handset.text(body, key) : handset.receive(body, key),
      );
    } catch (error) {
      draft.value = unsentBefore(body, draft.peek());
      throw error;
    }
  };
  const label = t(side === "phone" ? "phoneText" : "phoneSendTo", { number: handset.number });
  return (
    <form
      class="handset-composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (body.trim() !== "" && !isBusy) void run(send);
      }}
    >
      <div class="handset-sides" role="group" aria-label={t("phoneSide")}>
        <span class="muted" aria-hidden="true">
          {t("phoneSideFrom")}
        </span>
        {(["phone", "account"] as const).map((each) => (
          <button
            key={each}
            type="button"
            class="handset-side"
            aria-pressed={side === each}
            disabled={each === "account" && !canSend()}
            onClick={() => (handset.side.value = each)}
          >
            {t(each === "phone" ? "phoneSidePhone" : "phoneSideAccount")}
          </button>
        ))}
        <span class="grow" />
        <button
          type="button"
          class="handset-stop"
          data-tooltip={t("phoneStopHint")}
          disabled={isBusy}
          onClick={() => void run(() => handset.text("STOP", newKey()))}
        >
          STOP
        </button>
      </div>
      <div class="handset-line">
        <input
          class="input"
          dir="auto"
          aria-label={label}
          aria-invalid={problem !== undefined}
          placeholder={t(side === "phone" ? "phoneTextHint" : "phoneSendToHint")}
          autocomplete="off"
          value={body}
          onInput={({ currentTarget }) => (draft.value = currentTarget.value)}
        />
        <Button
          kind="primary"
          class="button-icon"
          icon="send"
          type="submit"
          aria-label={t("send")}
          isBusy={isBusy}
          disabled={body.trim() === ""}
        />
      </div>
      {problem !== undefined && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
