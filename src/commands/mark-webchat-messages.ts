import { attemptsOfMessage, messageById } from "../domain/messages/rows.ts";
import { mailboxByAddress, mailboxes, mailByNumber, mailOfMessage, type MailRow } from "../domain/webchat/rows.ts";
import {
  type VisitorMark,
  visitorMarkSchema,
  type VisitorStream,
  visitorStreamSchema,
} from "../domain/webchat/types.ts";
import { notFound } from "../errors.ts";
import type { Command } from "../operation.ts";
import type { Tx } from "../transactions/transaction.ts";
import { type Actor, actorOf } from "./steps/append-event.ts";
import { takeReceipts } from "./steps/apply-receipt.ts";
import { findSession } from "./steps/find-session.ts";

/** Messages that one transaction marks. A browser that has more comes again and proves the rest. */
const mostMarked = 100;

/** A visitor's browser says that it has a message, or that its visitor has read it. */
export const markWebchatMessage: Command<VisitorMark, void> = {
  kind: "command",
  name: "webchat.messages.mark",
  input: () => visitorMarkSchema,
  status: 204,
  async run(tx, { id, message_id, mark }, { scope, services }) {
    const { address } = await findSession(tx, scope, id);
    const entry = await tx.get(mailOfMessage, [message_id, address]);
    if (entry === undefined) throw notFound("message");
    await receipt(tx, actorOf(scope, services.drawId), entry, mark);
  },
};

/** A browser that comes again with the number of the last message that it had has all before it too. */
export const markWebchatMail: Command<VisitorStream, void> = {
  kind: "command",
  name: "webchat.mail.mark",
  input: () => visitorStreamSchema,
  status: 204,
  async run(tx, { id, last_event_id = "0" }, { scope, services }) {
    const { account_id, mode } = scope;
    const { address } = await findSession(tx, scope, id);
    const mailbox = await tx.get(mailboxByAddress, [account_id, mode, address]);
    if (mailbox === undefined) return;
    const first = mailbox.delivered_number + 1;
    const last = Math.min(Number(last_event_id), mailbox.last_number, mailbox.delivered_number + mostMarked);
    if (last < first) return;
    const actor = actorOf(scope, services.drawId);
    for (let number = first; number <= last; number++) {
      const entry = await tx.get(mailByNumber, [account_id, mode, address, number]);
      if (entry !== undefined) await receipt(tx, actor, entry, "delivered");
    }
    tx.update(mailboxes, mailbox, { delivered_number: last });
  },
};

/** Evidence as any carrier's. What says nothing new is not written down: a browser could say it for ever. */
async function receipt(tx: Tx, actor: Actor, { message_id }: MailRow, status: "delivered" | "read"): Promise<void> {
  const { account_id, mode } = actor.scope;
  const message = await tx.get(messageById, [account_id, mode, message_id]);
  if (message === undefined || message.status === "read" || message.status === status) return;
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  if (attempt !== undefined) await takeReceipts(tx, actor, message, attempt, [{ status, at: tx.now }]);
}
