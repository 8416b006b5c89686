import type { JSX } from "preact";
import type { Message, Timeline, TimelineEntry } from "../../../../../src/index.ts";
import {
  api,
  Badge,
  channelName,
  CopyButton,
  dateTime,
  Dialog,
  Facts,
  list as listed,
  LoadState,
  shownAddress,
  useResource,
  withOutcomesAtTheTime,
  type Tone,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { shownStatus, statusName } from "../words.ts";

interface DetailsProps {
  readonly message: Message;
  readonly onClose: () => void;
}

/** Everything that happened to a message. */
export function MessageDetails({ message, onClose }: DetailsProps): JSX.Element {
  const timeline = useResource(
    (signal) => api.get<Timeline>(`v1/messages/${message.id}/timeline`, { signal }),
    [message.id],
    // The last change that the page knows. The timeline is read again with it.
    message.status,
  );
  const status = shownStatus(message);
  const { from, to, channel, segments, provider_message_id, id } = message;
  return (
    <Dialog title={t("messageDetails")} onClose={onClose}>
      <p>
        <Badge tone={status.tone} icon={status.icon}>
          {status.label}
        </Badge>
      </p>
      <Facts
        of={[
          [t("detailFrom"), <bdi key="from">{shownAddress(from)}</bdi>],
          [t("detailTo"), <bdi key="to">{shownAddress(to)}</bdi>],
          [t("detailChannel"), <bdi key="channel">{channelName(channel)}</bdi>],
          [
            t("detailSegments"),
            segments && <bdi>{`${segments.count} · ${segments.encoding}`}</bdi>,
          ],
          [t("detailProviderId"), provider_message_id && <Copied value={provider_message_id} />],
          [t("detailId"), <Copied key="id" value={id} />],
        ]}
      />
      <h3>{t("timeline")}</h3>
      <LoadState of={timeline} />
      <ol class="timeline">
        {withOutcomesAtTheTime(timeline.data?.data ?? []).map((entry, index) => {
          const { title, detail, tone } = describe(entry);
          return (
            <li key={index} class={`timeline-entry tone-${tone}`}>
              <span class="timeline-dot" />
              <span class="grow">
                <bdi>{title}</bdi>
                {detail !== undefined && (
                  <span class="muted timeline-detail">
                    <bdi>{detail}</bdi>
                  </span>
                )}
              </span>
              <time class="muted" dateTime={entry.at}>
                {dateTime(entry.at)}
              </time>
            </li>
          );
        })}
      </ol>
    </Dialog>
  );
}

const Copied = ({ value }: { readonly value: string }): JSX.Element => (
  <>
    <bdi class="grow mono">{value}</bdi>
    <CopyButton value={value} />
  </>
);

interface Described {
  readonly title: string;
  readonly detail?: string | undefined;
  readonly tone: Tone;
}

const ignored = {
  duplicate: () => t("ignoredDuplicate"),
  already_known: () => t("ignoredAlreadyKnown"),
  outranked: () => t("ignoredOutranked"),
  superseded: () => t("ignoredSuperseded"),
};

const outcomes = {
  accepted: { key: "timelineAccepted", tone: "good" },
  pending: { key: "timelinePending", tone: "neutral" },
  rejected: { key: "timelineRejected", tone: "bad" },
  ambiguous: { key: "timelineAmbiguous", tone: "warn" },
} as const;

const lookups = {
  sent: () => t("lookupSent"),
  not_sent: () => t("lookupNotSent"),
  unknown: () => t("lookupUnknown"),
};

/** One entry of a timeline in words. */
function describe(entry: TimelineEntry): Described {
  switch (entry.type) {
    case "transition": {
      const { tone } = shownStatus({ status: entry.to, send_at: null });
      return { title: statusName(entry.to), detail: entry.error?.message, tone };
    }
    case "attempt": {
      const { key, tone } = outcomes[entry.outcome];
      const next =
        entry.next_attempt_at === null
          ? undefined
          : t("timelineNext", { time: dateTime(entry.next_attempt_at) });
      // A receipt reported the error of an accepted attempt, and its own entry says it.
      const error = entry.outcome === "accepted" ? undefined : entry.error?.message;
      const parts = [t("timelineAttempt", { number: entry.number }), error, next];
      return {
        title: t(key, { transport: entry.transport }),
        detail: parts.filter(Boolean).join(" · "),
        tone,
      };
    }
    case "receipt": {
      const reason = entry.ignored_reason;
      const detail =
        reason === null
          ? entry.error?.message
          : t("timelineIgnored", { reason: ignored[reason]() });
      const isBad = entry.status === "undelivered";
      return {
        title: t("timelineReceipt", { status: statusName(entry.status) }),
        detail,
        tone: reason !== null ? "neutral" : isBad ? "bad" : "good",
      };
    }
    case "lookup":
      return {
        title: t("timelineLookup", { outcome: lookups[entry.outcome]() }),
        tone: "neutral",
      };
    case "edit":
      return { title: t("timelineEdit", { fields: listed(entry.fields) }), tone: "neutral" };
    case "policy": {
      const { policy, verdict, reason } = entry;
      return verdict === "deny"
        ? { title: t("timelinePolicyDeny", { policy }), detail: reason, tone: "bad" }
        : { title: t("timelinePolicyDefer", { policy }), detail: reason, tone: "warn" };
    }
    case "redaction":
      return { title: t("timelineRedaction"), tone: "neutral" };
    default:
      return { title: (entry as { readonly type: string }).type, tone: "neutral" };
  }
}
