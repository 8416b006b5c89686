import { eventOf, events, receivedEventId } from "../domain/events/rows.ts";
import { type ById, byIdSchema } from "../fields.ts";
import { messageResource } from "../domain/messages/resource.ts";
import { messageById, messages } from "../domain/messages/rows.ts";
import type { Message } from "../domain/messages/types.ts";
import { iso } from "../domain/time.ts";
import { notFound, TidingsError } from "../errors.ts";
import { idempotency, idempotencyAlsoShowing, idempotencyByKey } from "../idempotency/rows.ts";
import type { Command } from "../operation.ts";
import { actorOf } from "./steps/append-event.ts";
import { rewriteDeliveries } from "./steps/clear-deliveries.ts";
import { writeTimeline } from "./steps/write-timeline.ts";

/** Of one message, under keys of their own: edits, a cancellation, simulated receipts. */
const mostAnswers = 10_000;

/** Takes a message's words and media out of the message, its events and its stored answer. The audit stays. */
export const redactMessage: Command<ById, Message> = {
  kind: "command",
  name: "messages.redact",
  input: () => byIdSchema,
  status: 200,
  async run(tx, { id }, { scope, services }) {
    // Held, for one that is redacted already: an erasure that commits meanwhile must find what is remembered of the answer.
    const message = await tx.get(messageById, [scope.account_id, scope.mode, id], { hold: true });
    if (message === undefined) throw notFound("message");
    if (message.status === "scheduled" || message.status === "queued" || message.status === "sending") {
      throw new TidingsError("conflict", `The message is ${message.status}: cancel it, or wait until it is sent.`);
    }
    if (message.body === null) return messageResource(message);

    const redacted = tx.update(messages, message, { body: null, media: [], updated_at: tx.now });
    writeTimeline(tx, actorOf(scope, services.drawId), message, redacted, { type: "redaction", at: iso(tx.now) });
    const received = await eventOf(tx, scope, receivedEventId(message.id));
    if (received !== undefined) {
      await rewriteDeliveries(tx, tx.update(events, received, { data: { ...received.data, body: "", media: [] } }));
    }
    if (message.idempotency_key !== null) {
      const stored = await tx.get(idempotencyByKey, [scope.account_id, scope.mode, message.idempotency_key]);
      if (stored?.subject_id === id) tx.update(idempotency, stored, { response: null });
    }
    // What was answered about its conversation may show its first words too.
    for (const shown of [id, message.conversation_id]) {
      for (const stored of await tx.list(idempotencyAlsoShowing, [scope.account_id, scope.mode, shown], mostAnswers)) {
        tx.update(idempotency, stored, { response: null });
      }
    }
    return messageResource(redacted);
  },
};
