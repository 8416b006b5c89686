import type { TimelineEntry } from "../../../../../src/index.ts";
import { dateTime, exactDuration, type IconName } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { shownStatus } from "../words.ts";
import type { PlannedEntry } from "./timeline.ts";

interface Described {
  readonly title: string;
  readonly icon: IconName;
  readonly details: readonly string[];
}

const given = (...details: (string | null | undefined)[]): string[] =>
  details.filter((detail): detail is string => typeof detail === "string" && detail !== "");

/** What an entry of a timeline says. */
export function describe(entry: TimelineEntry | PlannedEntry): Described {
  switch (entry.type) {
    case "transition": {
      const { label, icon } = shownStatus(entry.to);
      const title = t(entry.from === null ? "timelineCreated" : "timelineStatus", {
        status: label,
      });
      return { title, icon, details: given(entry.error?.message) };
    }
    case "attempt":
      return describeAttempt(entry);
    case "receipt":
      return {
        title: t("timelineReceipt", { status: shownStatus(entry.status).label }),
        icon: "arrow-in",
        details: given(
          entry.error?.message,
          entry.ignored_reason === null ? null : ignoredReason(entry.ignored_reason),
          entry.carrier_at === entry.at
            ? null
            : t("timelineCarrierTime", { time: dateTime(entry.carrier_at) }),
        ),
      };
    case "lookup":
      return { title: lookupTitle(entry.outcome), icon: "search", details: [] };
    case "edit":
      return {
        title: t("timelineEdit", { fields: entry.fields.join(", ") }),
        icon: "edit",
        details: [],
      };
    case "policy":
      return {
        title: t(entry.verdict === "deny" ? "timelineDenied" : "timelineDeferred", {
          policy: entry.policy,
        }),
        icon: "flag",
        details: given(
          entry.reason,
          entry.until === null ? null : t("timelineUntil", { time: dateTime(entry.until) }),
        ),
      };
    case "redaction":
      return { title: t("timelineRedaction"), icon: "trash", details: [] };
    case "planned":
      return {
        title: t(entry.what === "retry" ? "timelineRetryPlanned" : "timelineSendPlanned"),
        icon: "clock",
        details: [dateTime(entry.at)],
      };
    default:
      return { title: (entry as TimelineEntry).type, icon: "info", details: [] };
  }
}

function describeAttempt(entry: TimelineEntry & { readonly type: "attempt" }): Described {
  const { number, transport, outcome, error, provider_message_id, answered_at, at } = entry;
  const icons: Record<typeof outcome, IconName> = {
    pending: "clock",
    accepted: "check",
    rejected: "close",
    ambiguous: "alert",
  };
  const took =
    answered_at === null ? null : exactDuration(Date.parse(answered_at) - Date.parse(at));
  const code = error?.provider_code ?? null;
  return {
    title: t("timelineAttempt", { number, transport, outcome: outcomeName(outcome) }),
    icon: icons[outcome],
    details: given(
      // A receipt reported the error of an accepted attempt, and its status says it.
      outcome === "accepted" ? null : error?.message,
      code === null ? null : t("timelineProviderCode", { code }),
      took === null
        ? null
        : t(outcome === "ambiguous" ? "timelineLost" : "timelineAnswered", { time: took }),
      provider_message_id === null ? null : t("timelineProviderId", { id: provider_message_id }),
    ),
  };
}

const outcomeName = (outcome: "pending" | "accepted" | "rejected" | "ambiguous"): string =>
  ({
    pending: t("outcomePending"),
    accepted: t("outcomeAccepted"),
    rejected: t("outcomeRejected"),
    ambiguous: t("outcomeAmbiguous"),
  })[outcome];

const lookupTitle = (outcome: "sent" | "not_sent" | "unknown"): string =>
  ({
    sent: t("timelineLookupSent"),
    not_sent: t("timelineLookupNotSent"),
    unknown: t("timelineLookupUnknown"),
  })[outcome];

/** Why a receipt changed nothing. */
function ignoredReason(reason: string): string {
  const reasons: Partial<Record<string, string>> = {
    duplicate: t("ignoredDuplicate"),
    already_known: t("ignoredKnown"),
    outranked: t("ignoredOutranked"),
    superseded: t("ignoredSuperseded"),
  };
  return reasons[reason] ?? reason;
}
