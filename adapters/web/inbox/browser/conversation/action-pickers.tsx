/** What the actions on a conversation choose from. */
import type { JSX } from "preact";
import type { Conversation } from "../../../../../src/index.ts";
import {
  Avatar,
  currentSession,
  Picker,
  type PickerOption,
} from "../../../shared/browser/index.ts";
import { LabelPicker } from "../label-picker.tsx";
import { assign } from "../state/actions.ts";
import { labelsOfConversations } from "../state/known-labels.ts";
import { changeConversationLabel, labelsOf } from "../state/label-changes.ts";
import { agents, operators } from "../state/people.ts";
import { t } from "../texts.ts";

interface PickerProps {
  readonly row: Conversation;
  /** What the picker stands next to. */
  readonly anchor: { readonly current: HTMLElement | null };
  readonly onClose: () => void;
}

/** Chooses the person or agent of a conversation. */
export function AssignPicker({ row, anchor, onClose }: PickerProps): JSX.Element {
  const me = currentSession.value?.operator;
  const { assignee } = row;
  const people = operators.value.filter(({ id }) => id !== me?.id);
  const options: PickerOption[] = [
    ...(me === undefined
      ? []
      : [
          {
            id: `human:${me.id}`,
            label: me.name,
            hint: t("assignMe"),
            start: <Avatar name={me.name} seed={me.id} picture={me.avatar_url} />,
          },
        ]),
    { id: "", label: t("assignNobody"), start: <Avatar name="" /> },
    ...people.map(({ id, name, avatar_url }) => ({
      id: `human:${id}`,
      label: name,
      start: <Avatar name={name} seed={id} picture={avatar_url} />,
    })),
    // A disabled agent does not answer. It hands the conversation off to people.
    ...agents.value
      .filter(({ id, enabled }) => enabled || assignee?.id === id)
      .map(({ id, name }) => ({
        id: `agent:${id}`,
        label: name,
        hint: t("authorAgent"),
        start: <Avatar name={name} icon="agent" />,
      })),
  ];
  const chosen = assignee === null ? "" : `${assignee.type}:${assignee.id}`;
  return (
    <Picker
      anchor={anchor}
      label={t("assignTo")}
      onClose={onClose}
      options={options.map((each) => ({ ...each, isChosen: each.id === chosen }))}
      propose={(typed) =>
        operators.value.length > 0
          ? undefined
          : { id: `human:${typed}`, label: t("assignProposed", { name: typed }) }
      }
      onPick={(picked) => {
        const type = picked.startsWith("agent:") ? "agent" : "human";
        const id = picked.slice(picked.indexOf(":") + 1);
        void assign(row.id, picked === "" ? null : { type, id });
      }}
    />
  );
}

/** Adds and removes the labels of a conversation. */
export const ConversationLabelPicker = ({ row, anchor, onClose }: PickerProps): JSX.Element => (
  <LabelPicker
    anchor={anchor}
    labels={labelsOf(row)}
    propose={labelsOfConversations}
    onChange={(label, isAdded) => void changeConversationLabel(row.id, { label, isAdded })}
    onClose={onClose}
  />
);
