/** What a person does with a conversation. Each action shows its result at once. */
import type { Assignee, Conversation, Message, Note, Priority } from "../../../../../src/index.ts";
import {
  api,
  ApiError,
  current,
  currentKey,
  dayAndTime,
  explain,
  newKey,
  tabId,
  timeNow,
  toast,
  toastError,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { conversationNow, fetchConversation, patch, put, putResponse } from "./conversations.ts";
import {
  channelOf,
  type Draft,
  emptyDraft,
  isBlank,
  keptOf,
  type Mode,
  type Outgoing,
  removeOutgoing,
  setDraft,
  setMode,
  setOutgoing,
} from "./drafts.ts";
import { noteSent, tellUnsent } from "./failures.ts";
import { inTurn } from "./in-turn.ts";
import { nextSequence } from "./order.ts";
import { isMe, nameOfAssignee } from "./people.ts";
import { thread } from "./thread.ts";
import { allowReport } from "./typing.ts";

/** Shows a change at once, makes it, and takes it back if the server refuses it. */
async function change(
  id: string,
  fields: Partial<Conversation>,
  write: (key: string) => Promise<Conversation>,
  done?: string,
  undo?: () => void,
): Promise<boolean> {
  const before = conversationNow(id);
  patch(id, fields);
  try {
    await inTurn(id, async () => {
      const sequence = nextSequence();
      putResponse(await write(newKey()), sequence);
    });
    if (done !== undefined) {
      toast({ message: done, ...(undo && { action: { label: t("undo"), run: undo } }) });
    }
    return true;
  } catch (error) {
    if (before !== undefined) put(before);
    // Someone else may have changed it meanwhile.
    void fetchConversation(id).catch(() => {});
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
    t("closed"),
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
    t("snoozed", { time: dayAndTime(until) }),
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
  const handler = assignee === null ? "queue" : assignee.type === "agent" ? "ai" : "human";
  return change(
    id,
    { assignee, handler },
    (key) => api.post<Conversation>(`v1/conversations/${id}/assign`, { assignee }, { key }),
    assignedText(assignee),
  );
}

/** Within a sentence, `You` would have another form than as a name. */
function assignedText(assignee: Assignee | null): string {
  if (assignee === null) return t("unassigned");
  return isMe(assignee) ? t("assignedYou") : t("assigned", { name: nameOfAssignee(assignee) });
}

/** Assigns the conversation to the person who uses the page. */
export const take = (id: string): Promise<boolean> =>
  assign(id, { type: "human", id: current.peek()?.operator.id ?? "" });

export const setLabels = (id: string, labels: string[]): Promise<boolean> =>
  change(id, { labels }, (key) =>
    api.put<Conversation>(`v1/conversations/${id}/labels`, { labels }, { key }),
  );

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
  patch(id, { unread_count: 0 });
  const sequence = nextSequence();
  try {
    putResponse(await api.post<Conversation>(`v1/conversations/${id}/read`), sequence);
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

/** Sends what was typed. The text stays in the thread until the server has it. */
export function sendDraft(id: string): void {
  const { mode, [mode]: draft } = keptOf(id).peek();
  if (isBlank(draft)) return;
  const message: Outgoing = {
    ...draft,
    mode,
    key: newKey(),
    state: "sending",
    tab: tabId,
    problem: "",
    at: new Date().toISOString(),
  };
  setOutgoing(id, message);
  allowReport();
  setDraft(id, mode, { ...emptyDraft, from: draft.from });
  void inTurn(id, () => deliver(id, message));
}

/** Sends an outgoing message again, with the same key, so that it is sent once. */
export function resend(id: string, message: Outgoing): void {
  const again: Outgoing = { ...message, state: "sending", tab: tabId, problem: "" };
  setOutgoing(id, again);
  void inTurn(id, () => deliver(id, again));
}

/** Puts a message that was not sent back into the composer. */
export function editAgain(id: string, { key, mode, body, media, sendAt, from }: Outgoing): void {
  removeOutgoing(id, key);
  setMode(id, mode);
  setDraft(id, mode, { ...besideDraft(id, mode, body, media), sendAt, from });
}

/** Puts a message that did not reach the contact into the composer. */
export function writeAgain({ conversation_id: id, body, media }: Message): void {
  const urls = media.map(({ url }) => url);
  setMode(id, "reply");
  setDraft(id, "reply", besideDraft(id, "reply", body ?? "", urls));
}

/** A text and files before those that the person is writing. */
function besideDraft(
  id: string,
  mode: Mode,
  body: string,
  media: readonly string[],
): Pick<Draft, "body" | "media"> {
  const { [mode]: draft } = keptOf(id).peek();
  return {
    body: draft.body === "" ? body : `${body}\n${draft.body}`,
    media: [...new Set([...media, ...draft.media])],
  };
}

async function deliver(id: string, message: Outgoing): Promise<void> {
  const sequence = nextSequence();
  try {
    if (message.mode === "note") {
      const note = await api.post<Note>(
        `v1/conversations/${id}/notes`,
        { body: message.body },
        { key: message.key },
      );
      if (thread.peek()?.id === id) thread.peek()?.putNote(note);
    } else {
      const sent = await post(id, message);
      noteSent(sent.id, id);
      if (thread.peek()?.id === id) thread.peek()?.put(sent, sequence);
      if (sent.status === "scheduled" && sent.send_at !== null) {
        toast({ message: t("scheduled", { time: dayAndTime(sent.send_at) }) });
      }
      void fetchConversation(id).catch(() => {});
    }
    removeOutgoing(id, message.key);
  } catch (error) {
    const isSignedOut = error instanceof ApiError && error.status === 401;
    // The page asks the person to sign in. Once that is done, the reason says nothing any more.
    const problem = isSignedOut ? "" : explain(error);
    // Another tab has sent it meanwhile, or was refused too.
    const { outgoing } = keptOf(id).peek();
    if (!outgoing.some(({ key }) => key === message.key)) return;
    // Another tab that sends it must use the same key as this one.
    removeOutgoing(id, message.key);
    setOutgoing(id, { ...message, key: currentKey(message.key), state: "failed", problem });
    tellUnsent(id);
    if (error instanceof ApiError && error.status === 409) {
      void fetchConversation(id).catch(() => {});
    }
  }
}

/** A reply takes the conversation over. It cannot be scheduled, so a later message is a send. */
function post(id: string, { body, media, sendAt, from, key }: Draft & { key: string }) {
  const content = {
    body,
    ...(media.length > 0 && { media: media.map((url) => ({ url })) }),
    ...(from !== "" && { from }),
  };
  const row = conversationNow(id);
  if (sendAt === null || row === undefined) {
    return api.post<Message>(`v1/conversations/${id}/messages`, content, { key });
  }
  const channel = channelOf(row, media);
  const later = { to: row.contact.id, channel, ...content, send_at: sendAt };
  return api.post<Message>("v1/messages", later, { key });
}

/** Cancels a scheduled or queued message. */
export async function cancelMessage(id: string): Promise<void> {
  const sequence = nextSequence();
  try {
    const canceled = await api.post<Message>(`v1/messages/${id}/cancel`);
    thread.peek()?.put(canceled, sequence);
    toast({ message: t("messageCanceled") });
  } catch (error) {
    toastError(error);
    thread.peek()?.refreshMessage(id);
  }
}
