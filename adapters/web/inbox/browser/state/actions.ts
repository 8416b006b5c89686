/** What a person does with a conversation. Each action shows its result at once. */
import type { Assignee, Conversation, Priority } from "../../../../../src/index.ts";
import {
  api,
  currentSession,
  dayAndTime,
  newKey,
  timeNow,
  toast,
  toastError,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { conversationNow, conversations, nameOfContact } from "./conversations.ts";
import { inTurn } from "./in-turn.ts";
import { nextSequence } from "./order.ts";
import { isMe, nameOfAssignee } from "./people.ts";
import { undoAction } from "./undo.ts";

/** Shows a change at once, makes it, and takes it back if the server refuses it. */
async function change(
  id: string,
  fields: Partial<Conversation>,
  write: (key: string) => Promise<Conversation>,
  done?: string,
  undo?: () => void,
): Promise<boolean> {
  const before = conversationNow(id);
  conversations.patch(id, fields);
  try {
    await inTurn(id, async () => {
      const sequence = nextSequence();
      conversations.putResponse(await write(newKey()), sequence);
    });
    if (done !== undefined) {
      toast({ message: done, ...(undo && { action: undoAction(undo) }) });
    }
    return true;
  } catch (error) {
    if (before !== undefined) conversations.put(before);
    // Someone else may have changed it meanwhile.
    void conversations.fetch(id).catch(() => {});
    toastError(error);
    return false;
  }
}

const update = (id: string, body: object, key: string): Promise<Conversation> =>
  api.patch<Conversation>(`v1/conversations/${id}`, body, { key });

export const closeConversation = (id: string): Promise<boolean> =>
  change(
    id,
    { status: "closed", snoozed_until: null },
    (key) => update(id, { status: "closed" }, key),
    t("closed", { name: nameOfContact(id) }),
    undoOf(id, "closed"),
  );

export const reopen = (id: string): Promise<boolean> =>
  change(
    id,
    { status: "open", snoozed_until: null },
    (key) => update(id, { status: "open" }, key),
    t("reopened"),
  );

export const snooze = (id: string, until: string): Promise<boolean> =>
  change(
    id,
    { status: "snoozed", snoozed_until: until },
    (key) => update(id, { status: "snoozed", snoozed_until: until }, key),
    t("snoozed", { name: nameOfContact(id), time: dayAndTime(until) }),
    undoOf(id, "snoozed"),
  );

/** Returns what brings back the present status of a conversation, as long as it has `next`. */
function undoOf(id: string, next: Conversation["status"]): () => void {
  const { status, snoozed_until } = conversationNow(id) ?? {};
  return () => {
    // The contact may have written since, and nobody would see the message.
    if ((conversationNow(id)?.status ?? next) !== next) return;
    const until = snoozed_until ?? "";
    if (status === "closed") void closeConversation(id);
    else if (status === "snoozed" && Date.parse(until) > timeNow()) void snooze(id, until);
    else void reopen(id);
  };
}

export const setPriority = (id: string, priority: Priority): Promise<boolean> =>
  change(id, { priority }, (key) => update(id, { priority }, key));

export const clearOptOut = (id: string): Promise<boolean> =>
  change(id, { opt_out_suspected: false }, (key) => update(id, { opt_out_suspected: false }, key));

export function assign(id: string, assignee: Assignee | null): Promise<boolean> {
  return change(
    id,
    { assignee, handler: handlerOf(assignee) },
    (key) => api.post<Conversation>(`v1/conversations/${id}/assign`, { assignee }, { key }),
    assignedText(assignee),
    undoOfAssign(id, assignee),
  );
}

const handlerOf = (assignee: Assignee | null): Conversation["handler"] =>
  assignee === null ? "queue" : assignee.type === "agent" ? "ai" : "human";

/** Returns what assigns a conversation to its present assignee again, as long as `next` has it. */
function undoOfAssign(id: string, next: Assignee | null): (() => void) | undefined {
  const { assignee, handler } = conversationNow(id) ?? {};
  // After a hand-off, the agent is still the assignee. To assign it again would end the wait for a
  // person.
  if (assignee === undefined || handler !== handlerOf(assignee)) return undefined;
  return () => {
    if (conversationNow(id)?.assignee?.id === next?.id) void assign(id, assignee);
  };
}

/** Within a sentence, `You` would have another form than as a name. */
function assignedText(assignee: Assignee | null): string {
  if (assignee === null) return t("unassigned");
  return isMe(assignee) ? t("assignedYou") : t("assigned", { name: nameOfAssignee(assignee) });
}

/** Assigns the conversation to the person who uses the page. */
export const take = (id: string): Promise<boolean> =>
  assign(id, { type: "human", id: currentSession.peek()?.operator.id ?? "" });

export const handOff = (id: string, reason: string, summary: string): Promise<boolean> =>
  change(
    id,
    {},
    (key) =>
      api.post<Conversation>(
        `v1/conversations/${id}/handoff`,
        { reason, ...(summary !== "" && { summary }) },
        { key },
      ),
    t("handedOff"),
  );

export const handBack = (id: string): Promise<boolean> =>
  change(
    id,
    {},
    (key) => api.post<Conversation>(`v1/conversations/${id}/handback`, {}, { key }),
    t("handedBack"),
  );

/** Conversations that stay unread although they are open. */
const keptUnread = new Set<string>();

export async function markRead(id: string): Promise<void> {
  if (keptUnread.has(id) || (conversationNow(id)?.unread_count ?? 0) === 0) return;
  conversations.patch(id, { unread_count: 0 });
  try {
    await inTurn(id, async () => {
      const sequence = nextSequence();
      const read = await api.post<Conversation>(`v1/conversations/${id}/read`);
      conversations.putResponse(read, sequence);
    });
  } catch {
    // It stays unread for the others, and the next visit marks it.
  }
}

/** Lets the conversation be marked as read again. */
export const leave = (id: string): void => void keptUnread.delete(id);

export function markUnread(id: string): Promise<boolean> {
  keptUnread.add(id);
  const unread_count = Math.max(1, conversationNow(id)?.unread_count ?? 0);
  return change(
    id,
    { unread_count },
    (key) => api.post<Conversation>(`v1/conversations/${id}/unread`, {}, { key }),
    t("markedUnread"),
  );
}
