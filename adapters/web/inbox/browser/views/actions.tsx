import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Conversation } from "../../../../../src/index.ts";
import {
  Avatar,
  Button,
  current,
  dayAndTime,
  Dialog,
  go,
  IconButton,
  linkTo,
  may,
  Menu,
  type MenuItem,
  Picker,
  type PickerOption,
  place,
  TextArea,
  TextField,
  useShortcuts,
} from "../../../shared/browser/index.ts";
import {
  assign,
  closeConversation,
  handBack,
  handOff,
  markUnread,
  reopen,
  setLabels,
  setPriority,
  snooze,
} from "../state/actions.ts";
import { conversationNow, list } from "../state/conversations.ts";
import { agents, operators } from "../state/people.ts";
import { isView } from "../state/views.ts";
import { t } from "../texts.ts";
import { snoozeChoices } from "../times.ts";
import { priorityName } from "../words.ts";

type Opened = "assign" | "label" | "snooze" | "handoff" | "snooze-at" | undefined;

/** The actions on a conversation, with their shortcuts. */
export function Actions({ row }: { readonly row: Conversation }): JSX.Element | null {
  const [opened, setOpened] = useState<Opened>();
  const anchor = useRef<HTMLButtonElement>(null);
  const { id, status } = row;
  const isClosed = status === "closed";
  const closeAndLeave = async (): Promise<void> => {
    const next = nextAfter(id);
    if (await closeConversation(id)) go(linkTo(next, place.peek().query), true);
  };
  const toggleClosed = (): void => {
    if (isClosed) void reopen(id);
    else void closeAndLeave();
  };
  const open = (what: Opened) => () => setOpened(opened === what ? undefined : what);
  const canWrite = may("conversations:write");
  useShortcuts(
    canWrite
      ? [
          { key: "e", label: t(isClosed ? "reopen" : "close"), run: toggleClosed },
          { key: "a", label: t("assign"), run: open("assign") },
          { key: "s", label: t("snooze"), run: open("snooze") },
          { key: "l", label: t("labels"), run: open("label") },
          { key: "u", label: t("markUnread"), run: () => void markUnread(id) },
        ]
      : [],
  );
  if (!canWrite) return null;
  const close = (): void => setOpened(undefined);
  return (
    <div class="actions" role="toolbar" aria-label={t("actions")}>
      <span class="actions-wide">
        <IconButton icon="person" label={t("assign")} shortcut="a" onClick={open("assign")} />
        <IconButton icon="snooze" label={t("snooze")} shortcut="s" onClick={open("snooze")} />
        <IconButton icon="label" label={t("labels")} shortcut="l" onClick={open("label")} />
      </span>
      <Button
        icon={isClosed ? "inbox" : "check"}
        isSmall
        buttonRef={anchor}
        data-tooltip={t(isClosed ? "reopen" : "close")}
        data-tooltip-key="e"
        onClick={toggleClosed}
      >
        {t(isClosed ? "reopen" : "close")}
      </Button>
      <Menu label={t("more")} items={menuOf(row, setOpened)} />
      {opened === "assign" && <AssignPicker row={row} anchor={anchor} onClose={close} />}
      {opened === "label" && <LabelPicker row={row} anchor={anchor} onClose={close} />}
      {opened === "snooze" && (
        <SnoozePicker
          row={row}
          anchor={anchor}
          onClose={close}
          onAt={() => setOpened("snooze-at")}
        />
      )}
      {opened === "snooze-at" && <SnoozeDialog id={id} onClose={close} />}
      {opened === "handoff" && <HandOffDialog id={id} onClose={close} />}
    </div>
  );
}

/** The place after a conversation leaves the view: the next one, or the list. */
function nextAfter(id: string): string[] {
  const [view] = place.peek().path;
  const base = isView(view) ? view : "all";
  const ids = list.ids.peek();
  const at = ids.indexOf(id);
  const next = at === -1 ? undefined : (ids[at + 1] ?? ids[at - 1]);
  return next === undefined || matchMedia("(max-width: 47.99rem)").matches ? [base] : [base, next];
}

function menuOf(row: Conversation, open: (what: Opened) => void): MenuItem[] {
  const { id, priority, assignee, handler } = row;
  const isClosed = row.status === "closed";
  const items: MenuItem[] = [
    { label: t("assign"), icon: "person", shortcut: "a", onPick: () => open("assign") },
    { label: t("snooze"), icon: "snooze", shortcut: "s", onPick: () => open("snooze") },
    { label: t("labels"), icon: "label", shortcut: "l", onPick: () => open("label") },
    {
      label: t("markUnread"),
      icon: "unread",
      shortcut: "u",
      onPick: () => void markUnread(id),
    },
  ];
  if (handler !== "queue" && !isClosed) {
    items.push({ label: t("handOff"), icon: "handoff", onPick: () => open("handoff") });
  }
  if (assignee?.type === "agent" && handler !== "ai" && !isClosed) {
    items.push({ label: t("handBack"), icon: "agent", onPick: () => void handBack(id) });
  }
  for (const each of ["urgent", "high", "normal", "low"] as const) {
    items.push({
      label: `${t("priority")}: ${priorityName(each)}`,
      icon: "flag",
      isChosen: each === priority,
      onPick: () => void setPriority(id, each),
    });
  }
  return items;
}

interface PickerProps {
  readonly row: Conversation;
  readonly anchor: { readonly current: HTMLElement | null };
  readonly onClose: () => void;
}

function AssignPicker({ row, anchor, onClose }: PickerProps): JSX.Element {
  const me = current.value?.operator;
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
            start: <Avatar name={me.name} />,
          },
        ]),
    { id: "", label: t("assignNobody"), start: <Avatar name="" /> },
    ...people.map(({ id, name }) => ({
      id: `human:${id}`,
      label: name,
      start: <Avatar name={name} />,
    })),
    ...agents.value.map(({ id, name }) => ({
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

const maxLabels = 50;
const maxLabel = 64;

function LabelPicker({ row, anchor, onClose }: PickerProps): JSX.Element {
  const known = new Set(row.labels);
  for (const id of list.ids.peek().slice(0, 500)) {
    for (const label of conversationNow(id)?.labels ?? []) known.add(label);
  }
  return (
    <Picker
      anchor={anchor}
      label={t("labelAdd")}
      onClose={onClose}
      isMultiple
      options={[...known].map((label) => ({
        id: label,
        label,
        isChosen: row.labels.includes(label),
      }))}
      propose={(typed) =>
        known.has(typed) || row.labels.length >= maxLabels
          ? undefined
          : { id: typed.slice(0, maxLabel), label: t("labelNew", { name: typed }) }
      }
      onPick={(label) => {
        const labels = row.labels.includes(label)
          ? row.labels.filter((each) => each !== label)
          : [...row.labels, label];
        void setLabels(row.id, labels);
      }}
    />
  );
}

interface SnoozePickerProps extends PickerProps {
  readonly onAt: () => void;
}

function SnoozePicker({ row, anchor, onClose, onAt }: SnoozePickerProps): JSX.Element {
  const choices = snoozeChoices(new Date());
  return (
    <Picker
      anchor={anchor}
      label={t("snoozeUntil")}
      onClose={onClose}
      options={[
        ...choices.map(({ id, label, at }) => ({ id, label, hint: dayAndTime(at) })),
        { id: "at", label: t("snoozeCustom") },
      ]}
      onPick={(picked) => {
        const at = choices.find(({ id }) => id === picked)?.at;
        if (at === undefined) onAt();
        else void snooze(row.id, at.toISOString());
      }}
    />
  );
}

interface DialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

function SnoozeDialog({ id, onClose }: DialogProps): JSX.Element {
  const [at, setAt] = useState("");
  const isLater = Date.parse(at) > Date.now();
  return (
    <Dialog
      title={t("snoozeUntil")}
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          disabled={!isLater}
          onClick={() => {
            void snooze(id, new Date(at).toISOString());
            onClose();
          }}
        >
          {t("snooze")}
        </Button>
      }
    >
      <TextField
        label={t("snoozeCustom")}
        type="datetime-local"
        value={at}
        onInput={({ currentTarget }) => setAt(currentTarget.value)}
      />
    </Dialog>
  );
}

function HandOffDialog({ id, onClose }: DialogProps): JSX.Element {
  const [reason, setReason] = useState("");
  const [summary, setSummary] = useState("");
  const submit = async (): Promise<void> => {
    if (await handOff(id, reason.trim(), summary.trim())) onClose();
  };
  return (
    <Dialog
      title={t("handOff")}
      onClose={onClose}
      actions={
        <Button kind="primary" disabled={reason.trim() === ""} onClick={() => void submit()}>
          {t("handOff")}
        </Button>
      }
    >
      <TextField
        label={t("handOffReason")}
        maxLength={200}
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <TextArea
        label={t("handOffSummary")}
        isOptional
        rows={4}
        maxLength={2000}
        value={summary}
        onInput={({ currentTarget }) => setSummary(currentTarget.value)}
      />
    </Dialog>
  );
}
