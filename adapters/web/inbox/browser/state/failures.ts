/** Says that a message failed after its author has gone on to another conversation. */
import type { Message } from "../../../../../src/index.ts";
import { go, keepLatest, placeNow, toast } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";
import { nameOfContact } from "./conversations.ts";
import { thread } from "./thread.ts";
import { conversationLink } from "./views.ts";

const maxKept = 500;

/** The messages that were sent from this page, the oldest first. */
const sent = new Set<string>();
/** Lost messages of which the page does not know whether it sent them: the event came first. */
const early = new Set<string>();

function keep(ids: Set<string>, id: string): void {
  ids.add(id);
  keepLatest(ids, maxKept);
}

/** Remembers a message, so that its failure is reported. */
export function noteSent(id: string, conversationId: string): void {
  if (early.delete(id)) tell("failedToDeliver", conversationId);
  else keep(sent, id);
}

/** Tells that the server did not take a message. */
export const tellUnsent = (conversationId: string): void => tell("failedToSend", conversationId);

const lost: ReadonlySet<Message["status"]> = new Set(["failed", "undelivered", "expired"]);

/** Tells that a message of this page did not reach the contact. */
export function tellStatus(
  id: string,
  conversationId: string,
  { status }: Pick<Message, "status">,
): void {
  if (!lost.has(status)) return;
  if (sent.delete(id)) tell("failedToDeliver", conversationId);
  else keep(early, id);
}

function tell(what: "failedToSend" | "failedToDeliver", conversationId: string): void {
  // The open thread shows it beside the message.
  if (thread.peek()?.id === conversationId) return;
  toast({
    message: t(what, { name: nameOfContact(conversationId) }),
    isError: true,
    action: {
      label: t("failedShow"),
      run: () => go(conversationLink(conversationId, placeNow())),
    },
  });
}
