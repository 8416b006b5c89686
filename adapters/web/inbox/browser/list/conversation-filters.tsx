import type { JSX } from "preact";
import { Checkbox, Select } from "../../../shared/browser/index.ts";
import { labelsOfConversations } from "../state/known-labels.ts";
import type { ListQuery } from "../state/views.ts";
import { t } from "../texts.ts";
import { priorityName } from "../words.ts";
import { LabelFilter, type ActiveFilter, type ChangePlace } from "./filters.tsx";

/** The active filters of a list of conversations. */
export function conversationFilters(query: ListQuery): readonly ActiveFilter[] {
  const { label, channel, priority, unread } = query;
  const named = (parameter: string, name: string, value: string): ActiveFilter => ({
    parameter,
    label: t("filterIs", { name, value }),
  });
  const medium = t(channel === "webchat" ? "channelWebchat" : "channelText");
  const filters = [
    label && named("label", t("filterLabel"), label),
    channel && named("channel", t("filterChannel"), medium),
    priority && named("priority", t("filterPriority"), priorityName(priority)),
    unread && { parameter: "unread", label: t("filterUnread") },
  ];
  return filters.filter((each) => typeof each === "object");
}

interface FieldsProps {
  readonly query: ListQuery;
  readonly onChange: ChangePlace;
}

/** The fields of these filters. */
export function ConversationFilterFields({ query, onChange }: FieldsProps): JSX.Element {
  const any = { value: "", label: t("filterAny") };
  const priorities = (["urgent", "high", "normal", "low"] as const).map((value) => ({
    value,
    label: priorityName(value),
  }));
  return (
    <>
      <LabelFilter
        value={query.label}
        known={labelsOfConversations()}
        onChange={(label) => onChange({ label })}
      />
      <Select
        label={t("filterChannel")}
        value={query.channel ?? ""}
        options={[
          any,
          { value: "sms", label: t("channelText") },
          { value: "webchat", label: t("channelWebchat") },
        ]}
        onChange={(channel) => onChange({ channel })}
      />
      <Select
        label={t("filterPriority")}
        value={query.priority ?? ""}
        options={[any, ...priorities]}
        onChange={(priority) => onChange({ priority })}
      />
      <Checkbox
        label={t("filterUnread")}
        checked={query.unread === true}
        onChange={(isChecked) => onChange({ unread: isChecked ? "true" : undefined })}
      />
    </>
  );
}
