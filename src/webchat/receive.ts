import { messageResource, takeInMessage } from "../messages/index.ts";
import { senderById } from "../senders/index.ts";
import { webchatMessage } from "./resource.ts";
import { webchatSessions } from "./rows.ts";
import { pace } from "./rules.ts";
import { type VisitorMessage, visitorMessageSchema, type WebchatMessage } from "./types.ts";
import { notFound, TidingsError, ulidOf } from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { findSession } from "./find-session.ts";

/** Takes in what a visitor wrote, as what any carrier brings. */
export const receiveWebchatMessage: Command<VisitorMessage, WebchatMessage> = {
  kind: "command",
  name: "webchat.messages.create",
  input: visitorMessageSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { id, body, client_id }, { services }) {
    const session = await findSession(tx, id);
    const paced = pace(session.recent, tx.now);
    if (!paced.admitted) {
      const { retryAfterMs } = paced;
      throw new TidingsError("rate_limited", "More messages than a person writes.", {
        retryAfterMs,
      });
    }
    tx.update(webchatSessions, session, { recent: paced.recent });
    const inbox = await tx.get(senderById, [session.sender_id]);
    // An inbox that was removed takes its sessions along.
    if (inbox === undefined) throw notFound("webchat session");
    const own = client_id ?? ulidOf(services.drawId("msg"));
    const inbound = {
      // Of the session, not of the address: a browser that begins anew counts its messages anew.
      provider_message_id: `${ulidOf(session.id)}:${own}`,
      channel: "webchat",
      from: session.address,
      to: inbox.address,
      body,
      media: [],
      at: tx.now,
    } as const;
    return webchatMessage(messageResource(await takeInMessage(tx, services, inbox, inbound)));
  },
};
