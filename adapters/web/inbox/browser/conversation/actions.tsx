import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Conversation } from "../../../../../src/index.ts";
import {
  Button,
  IconButton,
  may,
  Menu,
  useOpened,
  useShortcuts,
  type MenuItem,
} from "../../../shared/browser/index.ts";
import { handBack, markUnread, reopen, setPriority, snooze } from "../state/actions.ts";
import { agents } from "../state/people.ts";
import { thread } from "../state/thread.ts";
import { t } from "../texts.ts";
import { priorityName } from "../words.ts";
import { AssignPicker, ConversationLabelPicker } from "./action-pickers.tsx";
import { closeAndLeave } from "./close-and-leave.ts";
import { HandOffDialog } from "./hand-off-dialog.tsx";
import { TimeDialog } from "./time-dialog.tsx";
import { TimePicker } from "./time-picker.tsx";

type Opened = "assign" | "label" | "snooze" | "handoff" | "snooze-at";

/** The actions on a conversation, with their shortcuts. */
export function Actions({ row }: { readonly row: Conversation }): JSX.Element | null {
  const [opened, setOpened, onClose] = useOpened<Opened>();
  const wide = useRef<HTMLSpanElement>(null);
  const close = useRef<HTMLButtonElement>(null);
  /** What a picker opens below: the buttons of the pickers, unless they are in the menu. */
  const anchor = {
    get current() {
      return wide.current?.checkVisibility() === true ? wide.current : close.current;
    },
  };
  const { id, status } = row;
  const isClosed = status === "closed";
  const toggleClosed = (): void => {
    if (isClosed) void reopen(id);
    else void closeAndLeave(id);
  };
  const open = (what: Opened) => () => setOpened(opened === what ? undefined : what);
  const canWrite = may("conversations:write");
  useShortcuts(
    t("conversation"),
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
  return (
    <div class="actions" role="toolbar" aria-label={t("actions")}>
      <span class="actions-wide" ref={wide}>
        <IconButton icon="person" label={t("assign")} shortcut="a" onClick={open("assign")} />
        <IconButton icon="snooze" label={t("snooze")} shortcut="s" onClick={open("snooze")} />
        <IconButton icon="label" label={t("labels")} shortcut="l" onClick={open("label")} />
      </span>
      <Button
        icon={isClosed ? "inbox" : "check"}
        isSmall
        buttonRef={close}
        data-tooltip={t(isClosed ? "reopen" : "close")}
        data-tooltip-key="e"
        onClick={toggleClosed}
      >
        {t(isClosed ? "reopen" : "close")}
      </Button>
      <Menu label={t("more")} items={menuOf(row, setOpened)} />
      {opened === "assign" && <AssignPicker {...{ row, anchor, onClose }} />}
      {opened === "label" && <ConversationLabelPicker {...{ row, anchor, onClose }} />}
      {opened === "snooze" && (
        <TimePicker
          anchor={anchor}
          label={t("snoozeUntil")}
          onPick={(at) => void snooze(id, at.toISOString())}
          onEnter={() => setOpened("snooze-at")}
          onClose={onClose}
        />
      )}
      {opened === "snooze-at" && (
        <TimeDialog
          title={t("snoozeUntil")}
          label={t("snoozeCustom")}
          confirm={t("snooze")}
          onPick={(at) => void snooze(id, at.toISOString())}
          onClose={onClose}
        />
      )}
      {opened === "handoff" && <HandOffDialog id={id} onClose={onClose} />}
    </div>
  );
}

/**
 * Whether people have the conversation and can hand it back to an agent. A person who has replied
 * is the assignee, and then only the messages tell that an agent had it before.
 */
function canHandBack({ id, status, handler, assignee }: Conversation): boolean {
  if (status === "closed" || (handler !== "human" && handler !== "queue")) return false;
  if (assignee?.type === "agent") return true;
  const entries = thread.value?.id === id ? thread.value.entries.value : [];
  return entries.some(
    (entry) =>
      entry.kind === "message" &&
      entry.message.author.type === "agent" &&
      agents.value.some((agent) => agent.id === entry.message.author.id),
  );
}

function menuOf(row: Conversation, open: (what: Opened) => void): MenuItem[] {
  const { id, priority, handler } = row;
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
  if (canHandBack(row)) {
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
