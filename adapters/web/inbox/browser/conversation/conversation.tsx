import { signal } from "@preact/signals";
import { Fragment, type JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Conversation as Row } from "../../../../../src/index.ts";
import {
  Button,
  dayAndTime,
  Icon,
  IconButton,
  may,
  shortTime,
  shownAddress,
  useResource,
} from "../../../shared/browser/index.ts";
import { isContactShown, showContact } from "../contact/contact-visibility.ts";
import { NotShown } from "../not-shown.tsx";
import { PaneHeader } from "../pane-header.tsx";
import { clearOptOut, markRead, reopen, take } from "../state/actions.ts";
import { conversation, conversations } from "../state/conversations.ts";
import { handoffs } from "../state/handoffs.ts";
import { now } from "../state/now.ts";
import { isMe, nameOfAssignee } from "../state/people.ts";
import { t } from "../texts.ts";
import { mediumName, nameIn } from "../words.ts";
import { Actions } from "./actions.tsx";
import { Approvals } from "./approvals.tsx";
import { Composer } from "./composer.tsx";
import { ThreadView } from "./thread.tsx";

interface ConversationProps {
  readonly id: string;
  /** The address of the list. */
  readonly back: string;
}

/** The open conversation. */
export function Conversation({ id, back }: ConversationProps): JSX.Element {
  const loading = useResource((signal) => conversations.fetch(id, signal), [id]);
  const row = conversation(id);
  useMarkRead(id, row?.unread_count ?? 0);
  const { data } = loading;
  useEffect(() => {
    // Its contact was erased meanwhile. The answer tells.
    if (row === undefined && data !== undefined) void loading.reload();
  }, [row === undefined]);
  if (row === undefined) return <NotShown of={loading} title={t("notFound")} back={back} />;
  const name = nameIn(row);
  const phone = shownAddress(row.contact.phone ?? "");
  const hasContact = isContactShown.value && may("contacts:read");
  const about = [
    mediumName(row.medium),
    // The contact beside the conversation shows the number, and leaves little room here.
    !hasContact && phone !== name && phone,
    row.assignee !== null && nameOfAssignee(row.assignee),
  ].filter(Boolean);
  return (
    <article class="conversation">
      <PaneHeader
        back={back}
        contactId={row.contact.id}
        name={name}
        about={about.map((each, index) => (
          <Fragment key={index}>
            {index > 0 && " · "}
            <bdi>{each}</bdi>
          </Fragment>
        ))}
      >
        <Actions row={row} />
        {may("contacts:read") && (
          <IconButton
            icon="panel"
            label={t("contactPanel")}
            shortcut="c"
            aria-pressed={isContactShown.value}
            data-contact-toggle
            onClick={() => showContact(!isContactShown.value)}
          />
        )}
      </PaneHeader>
      <Notices row={row} />
      <ThreadView row={row} />
      <Approvals row={row} />
      <Composer row={row} />
    </article>
  );
}

const readDelayMs = 800;

/** Whether someone looks at the page. */
const isVisible = signal(document.visibilityState === "visible");
document.addEventListener("visibilitychange", () => {
  isVisible.value = document.visibilityState === "visible";
});

/** What a person has looked at for a moment is read. */
function useMarkRead(id: string, unread: number): void {
  const visible = isVisible.value;
  useEffect(() => {
    if (unread === 0 || !visible || !may("conversations:write")) return;
    const timer = setTimeout(() => void markRead(id), readDelayMs);
    return () => clearTimeout(timer);
  }, [id, unread, visible]);
}

/** What a person must know before answering. */
function Notices({ row }: { readonly row: Row }): JSX.Element {
  const { id, status, snoozed_until } = row;
  const since = status === "open" ? row.waiting_since : null;
  const handoff = handoffs.value.get(id);
  const isMine = row.assignee !== null && isMe(row.assignee);
  const canWrite = may("conversations:write");
  return (
    <>
      {since !== null && (
        <div class="notice tone-warn">
          <Icon name="clock" />
          <div class="grow">
            <strong>
              {t(isMine ? "waitsForYou" : "waitsSince", { time: shortTime(since, now.value) })}
            </strong>
            {handoff !== undefined && handoff.reason !== "" && (
              <p>
                <bdi>{handoff.reason}</bdi>
              </p>
            )}
            {handoff !== undefined && handoff.summary !== "" && (
              <p class="notice-summary" dir="auto">
                {handoff.summary}
              </p>
            )}
          </div>
          {canWrite && !isMine && (
            <Button isSmall kind="primary" onClick={() => void take(id)}>
              {t("take")}
            </Button>
          )}
        </div>
      )}
      {row.opt_out_suspected && (
        <div class="notice tone-bad">
          <Icon name="alert" />
          <span class="grow">{t("optOutNotice")}</span>
          {canWrite && (
            <Button isSmall onClick={() => void clearOptOut(id)}>
              {t("clearOptOut")}
            </Button>
          )}
        </div>
      )}
      {status === "snoozed" && snoozed_until !== null && (
        <div class="notice tone-neutral">
          <Icon name="snooze" />
          <span class="grow">{t("snoozedNotice", { time: dayAndTime(snoozed_until) })}</span>
          {canWrite && (
            <Button isSmall onClick={() => void reopen(id)}>
              {t("unsnooze")}
            </Button>
          )}
        </div>
      )}
    </>
  );
}
