import {
  admitOneMore,
  notFound,
  TidingsError,
  ulidOf,
  withId,
  type ById,
} from "../kernel/index.ts";
import {
  applyReceipts,
  attemptsOfMessage,
  messageById,
  messageResource,
  receiveMessage,
} from "../messages/index.ts";
import { showsNothing, showsOutput, type Command, type Services } from "../operations/index.ts";
import { senderById } from "../senders/index.ts";
import type { Tx } from "../store/index.ts";
import {
  mailboxByAddress,
  mailByNumber,
  mailOfMessage,
  webchatSessions,
  type MailRow,
} from "./rows.ts";
import { findSession } from "./sessions/sessions.ts";
import { webchatMessage } from "./show.ts";
import {
  visitorMarkSchema,
  visitorMessageSchema,
  visitorStreamSchema,
  type VisitorMark,
  type VisitorMessage,
  type VisitorStream,
  type WebchatMessage,
} from "./types.ts";

/** Receives a visitor's message like an inbound message of any carrier. */
export const receiveWebchatMessage: Command<VisitorMessage & ById, WebchatMessage> = {
  kind: "command",
  name: "webchat.sendAsVisitor",
  input: (limits) => withId(visitorMessageSchema(limits), "The id of the session."),
  status: 201,
  shows: showsOutput,
  async run(tx, { id, body, client_id }, { services }) {
    const session = await findSession(tx, id, tx.now, { hold: true });
    const decision = admitOneMore(session.recent, limit, tx.now);
    if (!decision.admitted) {
      const { retryAfterMs } = decision;
      throw new TidingsError(
        "rate_limited",
        "The session sent more than 20 messages in 10 seconds. Wait and send the message again.",
        { retryAfterMs },
      );
    }
    tx.update(webchatSessions, session, { recent: decision.times });
    const inbox = await tx.get(senderById, [session.sender_id]);
    // A session ends when its inbox is removed.
    if (inbox === undefined) throw notFound("webchat session");
    const idInSession = client_id ?? ulidOf(tx.drawId("msg"));
    const inbound = {
      // A new browser starts its client ids anew, so they are not unique per address.
      provider_message_id: `${ulidOf(session.id)}:${idInSession}`,
      channel: "webchat",
      from: session.address,
      to: inbox.address,
      body,
      media: [],
      at: tx.now,
    } as const;
    const message = await receiveMessage(tx, services, inbox, inbound);
    return webchatMessage(messageResource(message), null);
  },
};

/** The messages that one session may send. A person writes fewer. */
const limit = { max: 20, windowMs: 10_000 };

/** The number of messages that one transaction marks. */
const maxMarked = 100;

/** Records that the visitor's browser has a message, or that the visitor has read it. */
export const markWebchatMessage: Command<VisitorMark & ById, void> = {
  kind: "command",
  name: "webchat.mark",
  input: () => withId(visitorMarkSchema, "The id of the session."),
  status: 204,
  shows: showsNothing,
  // An anonymous visitor could fill the database with stored responses.
  takesNoKey: true,
  async run(tx, { id, message_id, mark }, { services }) {
    const { address } = await findSession(tx, id, tx.now, { hold: true });
    const entry = await tx.get(mailOfMessage, [message_id, address]);
    if (entry === undefined) throw notFound("message", message_id);
    await recordReceipt(tx, services, entry, mark);
  },
};

/**
 * A browser that reconnects with a message's number has received all earlier messages too. Those
 * after the session's `begins_after` count as delivered, or those after a lower number with which
 * the browser first connects. Returns whether more messages remain to be marked.
 */
export const markWebchatMail: Command<VisitorStream & ById, boolean> = {
  kind: "command",
  name: "webchat.mail.mark",
  input: () => withId(visitorStreamSchema, "The id of the session."),
  status: 200,
  shows: showsNothing,
  async run(tx, { id, last_event_id }, { services }) {
    if (last_event_id === undefined) return false;
    const session = await findSession(tx, id, tx.now, { hold: true });
    const { address, begins_after } = session;
    const mailbox = await tx.get(mailboxByAddress, [address]);
    const had = Math.min(Number(last_event_id), mailbox?.last_number ?? 0);
    const before = session.proven_number ?? Math.min(had, begins_after);
    const proven = Math.max(before, Math.min(had, before + maxMarked));
    for (let number = before + 1; number <= proven; number++) {
      const entry = await tx.get(mailByNumber, [address, number]);
      if (entry !== undefined) await recordReceipt(tx, services, entry, "delivered");
    }
    if (proven !== session.proven_number) {
      tx.update(webchatSessions, session, { proven_number: proven });
    }
    return proven < had;
  },
};

/**
 * Records a receipt like any carrier's. A receipt with no new information is not stored, because a
 * browser could repeat it without end.
 */
async function recordReceipt(
  tx: Tx,
  services: Services,
  { message_id }: MailRow,
  status: "delivered" | "read",
): Promise<void> {
  const message = await tx.get(messageById, [message_id]);
  if (message === undefined || message.status === "read" || message.status === status) return;
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  if (attempt !== undefined) {
    await applyReceipts(tx, services, { message, attempt }, [{ status, at: tx.now }]);
  }
}
