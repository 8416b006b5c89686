import type { ComponentChildren, JSX } from "preact";
import type { Conversation, Message } from "../../../../../src/index.ts";
import { Badge, dateTime, dayAndTime, duration, Icon } from "../../../shared/browser/index.ts";
import { isApprovalAwaited } from "../state/approvals.ts";
import { conversation } from "../state/conversations.ts";
import { unfinished } from "../state/drafts.ts";
import { labelsOf } from "../state/label-changes.ts";
import { excerpt, matches } from "../state/matches.ts";
import { now } from "../state/now.ts";
import { nameOfAssignee } from "../state/people.ts";
import { activityOf, isEverywhere, type ListQuery } from "../state/views.ts";
import { t } from "../texts.ts";
import {
  mediumIcon,
  mediumName,
  nameIn,
  notableStatus,
  priorityName,
  priorityTone,
} from "../words.ts";
import { ListRow } from "./list-row.tsx";

interface RowProps {
  readonly id: string;
  readonly tabIndex: 0 | -1;
  readonly isActive: boolean;
  readonly query: ListQuery;
}

/** A conversation in the list: a link to it. */
export function ConversationRow(props: RowProps): JSX.Element | null {
  const { id, tabIndex, isActive, query } = props;
  const row = conversation(id);
  if (row === undefined) return null;
  const { contact, unread_count: unread, last_message: last } = row;
  const { words } = query;
  const match = words === undefined ? undefined : matches.value.get(id);
  const at = match?.created_at ?? activityOf(row);
  return (
    <ListRow
      class={unread > 0 ? "is-unread" : ""}
      path={[query.view, id]}
      name={nameIn(row)}
      contactId={contact.id}
      at={at}
      tip={dateTime(at)}
      {...{ isActive, tabIndex }}
    >
      <span class="row-line">
        {match === undefined || !match.body ? (
          <Preview message={last} status={last?.status}>
            {last?.preview}
          </Preview>
        ) : (
          <Preview message={match} status={match.id === last?.id ? last.status : undefined}>
            {excerpt(match.body, words ?? "").map(({ text, isFound }, index) =>
              isFound ? <mark key={index}>{text}</mark> : text,
            )}
          </Preview>
        )}
        {unread > 0 && (
          <span class="count is-strong">
            <span aria-hidden="true">{unread > 99 ? t("many", { count: 99 }) : unread}</span>
            <span class="visually-hidden">{t("rowUnread", { count: unread })}</span>
          </span>
        )}
      </span>
      <span class="row-line row-facts">
        <Facts row={row} query={query} isActive={isActive} />
      </span>
    </ListRow>
  );
}

interface PreviewProps {
  /** The message that is shown. Null if there is none. */
  readonly message: Pick<Message, "direction"> | null;
  /** Its status. Undefined unless it is the last message: no event keeps others up to date. */
  readonly status: Message["status"] | undefined;
  /** Its text, or the part that a search has found. */
  readonly children: ComponentChildren;
}

function Preview({ message, status, children }: PreviewProps): JSX.Element {
  const empty = message === null ? t("rowNoMessages") : t("rowNoText");
  return (
    <span class="row-preview grow">
      {message?.direction === "outbound" && <Outbound status={status} />}
      <span class="truncate grow" dir="auto">
        {children || empty}
      </span>
    </span>
  );
}

/** Marks an outbound message, and says if it waits to be sent or did not arrive. */
function Outbound({ status }: Pick<PreviewProps, "status">): JSX.Element {
  const shown = status === undefined ? undefined : notableStatus(status);
  if (shown === undefined) {
    return (
      <>
        <Icon name="reply" />
        <span class="visually-hidden">{t("rowSent")}</span>
      </>
    );
  }
  // Every message has the status `sending` for a moment. A word would flicker.
  const isBrief = status === "sending";
  return (
    <span class={`row-status tone-${shown.tone}`}>
      <Icon name={shown.icon} />
      <span class={isBrief ? "visually-hidden" : "truncate"}>
        {t("rowStatus", { status: shown.label })}
      </span>
    </span>
  );
}

const minuteMs = 60_000;

/** How long a contact has waited. Seconds would stand still until the next step of `now`. */
const waitingText = (ms: number): string =>
  ms < minuteMs ? t("rowWaitingBriefly") : t("rowWaiting", { time: duration(ms) });

interface FactsProps {
  readonly row: Conversation;
  readonly query: ListQuery;
  readonly isActive: boolean;
}

/** What a person must know before opening the conversation: at most a few badges. */
function Facts({ row, query, isActive }: FactsProps): JSX.Element {
  const { medium, handler, assignee, priority, status, snoozed_until } = row;
  const labels = labelsOf(row);
  const since = row.waiting_since;
  const last = row.last_message;
  const left = unfinished.value.get(row.id);
  return (
    <>
      <span class="row-channel" data-tooltip={mediumName(medium)}>
        <Icon name={mediumIcon(medium)} />
      </span>
      {left === "unsent" && (
        <Badge tone="bad" icon="alert">
          {t("rowUnsent")}
        </Badge>
      )}
      {/* Beside an open draft it would only appear while the person types. */}
      {left === "draft" && !isActive && <Badge icon="edit">{t("rowDraft")}</Badge>}
      {isApprovalAwaited(row.id) && (
        <Badge tone="warn" icon="person">
          {t("rowApproval")}
        </Badge>
      )}
      {row.opt_out_suspected && (
        <Badge tone="bad" icon="alert">
          {t("optOutSuspected")}
        </Badge>
      )}
      {last?.status === "scheduled" && last.send_at !== null && (
        <Badge icon="calendar">{t("scheduledFor", { time: dayAndTime(last.send_at) })}</Badge>
      )}
      {status === "closed" && (query.view !== "closed" || isEverywhere(query)) && (
        <Badge icon="archive">{t("rowClosed")}</Badge>
      )}
      {status === "snoozed" && snoozed_until !== null && (
        <Badge icon="snooze">{t("rowSnoozed", { time: dayAndTime(snoozed_until) })}</Badge>
      )}
      {since !== null && status === "open" && (
        <Badge tone="warn" icon="clock">
          {waitingText(now.value - Date.parse(since))}
        </Badge>
      )}
      {priority !== "normal" && (
        <Badge tone={priorityTone(priority)} icon="flag">
          {priorityName(priority)}
        </Badge>
      )}
      {handler === "ai" && assignee !== null && (
        <Badge tone="accent" icon="agent">
          {nameOfAssignee(assignee)}
        </Badge>
      )}
      {assignee?.type === "human" && <Badge icon="person">{nameOfAssignee(assignee)}</Badge>}
      {labels.slice(0, 2).map((label) => (
        <Badge key={label}>{label}</Badge>
      ))}
      {labels.length > 2 && <Badge tip={labels.join(", ")}>+{labels.length - 2}</Badge>}
    </>
  );
}
