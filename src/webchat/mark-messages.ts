import { attemptsOfMessage, messageById, takeReceipts } from "../messages/index.ts";
import {
  mailboxByAddress,
  mailByNumber,
  mailOfMessage,
  type MailRow,
  webchatSessions,
} from "./rows.ts";
import {
  type VisitorMark,
  visitorMarkSchema,
  type VisitorStream,
  visitorStreamSchema,
} from "./types.ts";
import { notFound } from "../kernel/index.ts";
import type { Command, Services } from "../operations/index.ts";
import type { Tx } from "../store/index.ts";
import { findSession } from "./find-session.ts";

/** Messages that one transaction marks. */
const mostMarked = 100;

/** A visitor's browser says that it has a message, or that its visitor has read it. */
export const markWebchatMessage: Command<VisitorMark, void> = {
  kind: "command",
  name: "webchat.messages.mark",
  input: () => visitorMarkSchema,
  status: 204,
  async run(tx, { id, message_id, mark }, { services }) {
    const { address } = await findSession(tx, id);
    const entry = await tx.get(mailOfMessage, [message_id, address]);
    if (entry === undefined) throw notFound("message");
    await receipt(tx, services, entry, mark);
  },
};

/**
 * A browser that comes again with the number of the last message that it had has all before it too that it was sent: what came since its
 * session began, or since the number with which it first came, where an older session had left it. Answers whether it proves still more.
 */
export const markWebchatMail: Command<VisitorStream, boolean> = {
  kind: "command",
  name: "webchat.mail.mark",
  input: () => visitorStreamSchema,
  status: 200,
  async run(tx, { id, last_event_id }, { services }) {
    if (last_event_id === undefined) return false;
    const session = await findSession(tx, id);
    const { address, begins_after } = session;
    const mailbox = await tx.get(mailboxByAddress, [address]);
    const had = Math.min(Number(last_event_id), mailbox?.last_number ?? 0);
    const before = session.proven_number ?? Math.min(had, begins_after);
    const proven = Math.max(before, Math.min(had, before + mostMarked));
    for (let number = before + 1; number <= proven; number++) {
      const entry = await tx.get(mailByNumber, [address, number]);
      if (entry !== undefined) await receipt(tx, services, entry, "delivered");
    }
    if (proven !== session.proven_number) {
      tx.update(webchatSessions, session, { proven_number: proven });
    }
    return proven < had;
  },
};

/** Evidence as any carrier's. What says nothing new is not written down: a browser could say it for ever. */
async function receipt(
  tx: Tx,
  services: Services,
  { message_id }: MailRow,
  status: "delivered" | "read",
): Promise<void> {
  const message = await tx.get(messageById, [message_id]);
  if (message === undefined || message.status === "read" || message.status === status) return;
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  if (attempt !== undefined) {
    await takeReceipts(tx, services, message, attempt, [{ status, at: tx.now }]);
  }
}
