import { identities } from "../domain/contacts/rows.ts";
import { arm, armNew } from "../domain/jobs/rows.ts";
import { messageResource } from "../domain/messages/resource.ts";
import { messages, untouched } from "../domain/messages/rows.ts";
import { channelOf, mediumOf, plan } from "../domain/messages/rules.ts";
import { segmentsOf } from "../domain/messages/segments.ts";
import { patchOf } from "../domain/messages/state.ts";
import { type Message, type SendMessage, sendMessageSchema } from "../domain/messages/types.ts";
import { millis } from "../domain/time.ts";
import { invalid } from "../errors.ts";
import type { Command } from "../operation.ts";
import type { Actor } from "./steps/append-event.ts";
import { chooseSender } from "./steps/choose-sender.ts";
import { countMessage } from "./steps/count-message.ts";
import { meetContact } from "./steps/find-contact.ts";
import { findRecipient } from "./steps/find-recipient.ts";
import { beginConversation, findConversation, isActive, takePlace } from "./steps/open-conversation.ts";
import { releaseJob, sendJob } from "./steps/send-jobs.ts";

/** Accepts a message: it is queued, or scheduled, and will be handed over by whichever engine gets to it. */
export const sendMessage: Command<SendMessage, Message> = {
  kind: "command",
  name: "messages.send",
  input: sendMessageSchema,
  status: 201,
  async run(tx, input, call) {
    const actor: Actor = { scope: call.scope, drawId: call.services.drawId };
    const send_at = input.send_at === undefined ? null : millis(input.send_at);
    const ttl = input.ttl_seconds === undefined ? {} : { ttl: input.ttl_seconds * 1_000 };
    const planned = plan({ send_at, ...ttl }, tx.now);
    if (planned.decision === "invalid") throw invalid([planned.error]);
    const { state } = planned;

    const channel = channelOf(input);
    const medium = mediumOf(channel);
    const known = await findRecipient(tx, call.scope, medium, input.to);
    const identity = known ?? meetContact(tx, actor, medium, input.to);
    const wish = { channel, from: input.from, last: identity.last_sender_id };
    // Neither rests on the other, so they are read together; and a contact that was met just now has no conversation.
    const [sender, current] = await Promise.all([
      chooseSender(tx, call.scope, wish, call.services.transports),
      known && findConversation(tx, known),
    ]);
    if (identity.last_sender_id !== sender.id) tx.update(identities, identity, { last_sender_id: sender.id });

    const goesOn = isActive(current);
    const conversation = goesOn ? current : await beginConversation(tx, actor, identity, current);
    const id = actor.drawId("msg");
    const segments = channel === "sms" ? segmentsOf(input.body) : null;
    const message = tx.insert(messages, {
      ...call.scope,
      id,
      conversation_id: conversation.id,
      contact_id: identity.contact_id,
      sequence: takePlace(tx, conversation, id, "outbound"),
      direction: "outbound",
      channel,
      status: state.status,
      from: sender.address,
      to: identity.address,
      body: input.body,
      media: input.media ?? [],
      author_type: "api",
      author_id: call.caller.type === "key" ? call.caller.key_id : null,
      category: input.category ?? "transactional",
      segments: segments?.count ?? null,
      encoding: segments?.encoding ?? null,
      // A time that has passed means now; one that is to come is part of the state.
      send_at: null,
      expires_at: state.expires_at,
      transport: sender.transport,
      metadata: input.metadata ?? {},
      idempotency_key: call.idempotency_key,
      created_at: tx.now,
      updated_at: tx.now,
      ...untouched,
      ...patchOf(state),
    });
    countMessage(tx, message);
    if (state.status !== "queued") armNew(tx, releaseJob(message, state.send_at));
    else if (!goesOn) armNew(tx, sendJob(message, tx.now));
    else await arm(tx, sendJob(message, tx.now));
    return messageResource(message);
  },
};
