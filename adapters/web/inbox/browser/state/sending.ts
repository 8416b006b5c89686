/** The messages and notes of a person: sends them, and takes them back into the composer. */
import type { Message, Note } from "../../../../../src/index.ts";
import {
  api,
  ApiError,
  currentKey,
  dayAndTime,
  explain,
  newKey,
  tabId,
  toast,
  toastError,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { conversationNow, conversations } from "./conversations.ts";
import {
  channelOf,
  emptyDraft,
  isBlank,
  keptOf,
  removeOutgoing,
  setDraft,
  setMode,
  setOutgoing,
  type Draft,
  type Mode,
  type Outgoing,
} from "./drafts.ts";
import { noteSent, tellUnsent } from "./failures.ts";
import { inTurn } from "./in-turn.ts";
import { nextSequence } from "./order.ts";
import { recipientOf } from "./recipient.ts";
import { thread } from "./thread.ts";
import { allowReport } from "./typing.ts";

/**
 * Sends what was typed. The text stays in the thread until the server has it.
 * @returns Whether the server took it.
 */
export async function sendDraft(id: string): Promise<boolean> {
  const { mode, [mode]: draft } = keptOf(id).peek();
  if (isBlank(draft)) return false;
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
  return inTurn(id, () => deliver(id, message));
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

/** Returns whether the server took the message. */
async function deliver(id: string, given: Outgoing): Promise<boolean> {
  const sequence = nextSequence();
  let message = given;
  try {
    message = await withRecipient(id, given);
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
      void conversations.fetch(id).catch(() => {});
    }
    removeOutgoing(id, message.key);
    return true;
  } catch (error) {
    const isSignedOut = error instanceof ApiError && error.status === 401;
    // The page asks the person to sign in. Once that is done, the reason says nothing any more.
    const problem = isSignedOut ? "" : explain(error);
    // Another tab has sent it meanwhile, or was refused too.
    const { outgoing } = keptOf(id).peek();
    if (!outgoing.some(({ key }) => key === message.key)) return false;
    // Another tab that sends it must use the same key as this one.
    removeOutgoing(id, message.key);
    const key = currentKey(message.key);
    // Under another key, the repetition is another request.
    const to = key === message.key ? message.to : undefined;
    setOutgoing(id, { ...message, to, key, state: "failed", problem });
    tellUnsent(id);
    if (error instanceof ApiError && error.status === 409) {
      void conversations.fetch(id).catch(() => {});
    }
    return false;
  }
}

/** Chooses the recipient of a later message, once: a repetition must be the same request. */
async function withRecipient(id: string, message: Outgoing): Promise<Outgoing> {
  if (message.sendAt === null || message.to !== undefined) return message;
  const row = conversationNow(id) ?? (await conversations.fetch(id));
  const addressed = { ...message, to: await recipientOf(row) };
  setOutgoing(id, addressed);
  return addressed;
}

/** A reply takes the conversation over. It cannot be scheduled, so a later message is a send. */
async function post(id: string, { body, media, sendAt, from, to, key }: Outgoing) {
  const content = {
    body,
    ...(media.length > 0 && { media: media.map((url) => ({ url })) }),
    ...(from !== "" && { from }),
  };
  if (sendAt === null) {
    return api.post<Message>(`v1/conversations/${id}/messages`, content, { key });
  }
  const channel = channelOf(conversationNow(id) ?? (await conversations.fetch(id)), media);
  const later = { to, channel, ...content, send_at: sendAt };
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
