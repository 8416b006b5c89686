import {
  contactById,
  mergedError,
  showContact,
  unknownContact,
  type Contact,
} from "../contacts/index.ts";
import { appendEvent, eventResource } from "../events/index.ts";
import {
  invalid,
  millis,
  noInput,
  notFound,
  TidingsError,
  withId,
  type ById,
  type Scope,
} from "../kernel/index.ts";
import {
  applyReceipts,
  attemptsOfMessage,
  channelOf,
  messageById,
  messageResource,
  messages,
  receiveMessage,
  type Message,
  type MessageRow,
} from "../messages/index.ts";
import { showsOutput, type Command, type Query, type Services } from "../operations/index.ts";
import { arm } from "../queue/index.ts";
import { sandboxAddress, senderByAddress } from "../senders/index.ts";
import type { Tx } from "../store/index.ts";
import {
  deliveries,
  deliverJob,
  deliveryResource,
  eventDefinitionOf,
  eventTypesOf,
  requireWebhook,
  testWebhookSchema,
  writeDelivery,
  type Delivery,
  type Event,
  type TestWebhook,
} from "../webhooks/index.ts";
import { sampleData } from "./event-samples.ts";
import {
  sandboxEventSchema,
  sandboxInboundSchema,
  sandboxReceiptsSchema,
  type SandboxEvent,
  type SandboxInbound,
  type SandboxNumbers,
  type SandboxReceipts,
} from "./types.ts";

/** Lists the numbers that the sandbox's transports simulate, and the behavior of each. */
export const listSandboxNumbers: Query<Record<string, never>, SandboxNumbers> = {
  kind: "query",
  name: "sandbox.numbers",
  input: () => noInput,
  async run(_reads, _input, { scope, services }) {
    requireSandbox(scope);
    const simulated = services.transports.filter(({ capabilities }) =>
      capabilities.modes.includes("sandbox"),
    );
    const numbers = simulated.flatMap(({ test_numbers = [] }) => test_numbers);
    return { data: numbers.map(({ number, behavior }) => ({ number, behavior })) };
  },
};

/** Simulates an inbound message. */
export const receiveSandboxMessage: Command<SandboxInbound, Message> = {
  kind: "command",
  name: "sandbox.inbound",
  input: sandboxInboundSchema,
  status: 201,
  shows: showsOutput,
  async run(
    tx,
    { from, to = sandboxAddress, body, media = [], provider_message_id },
    { scope, services },
  ) {
    requireSandbox(scope);
    const sender = await tx.get(senderByAddress, [to]);
    if (sender === undefined) {
      throw invalid([
        {
          pointer: "/to",
          code: "unknown_sender",
          message: `${to} is not a sender of this account.`,
        },
      ]);
    }
    const channel = channelOf({ media });
    if (!sender.channels.includes(channel)) {
      throw invalid([
        {
          pointer: "/to",
          code: "wrong_channel",
          message: `${to} does not receive ${channel}. Name a sender with that channel.`,
        },
      ]);
    }
    const inbound = {
      provider_message_id: provider_message_id ?? tx.drawId("sim"),
      channel,
      from,
      to,
      body,
      media,
      at: tx.now,
    };
    return messageResource(await receiveMessage(tx, services, sender, inbound));
  },
};

/** Simulates a carrier's receipts for a message. They may be out of order and repeated. */
export const receiveSandboxReceipts: Command<SandboxReceipts, Message> = {
  kind: "command",
  name: "sandbox.receipts",
  input: () => sandboxReceiptsSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, receipts }, { scope, services }) {
    requireSandbox(scope);
    const message = await tx.get(messageById, [id]);
    if (message === undefined) throw notFound("message", id);
    const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
    if (attempt === undefined) throw notSent(message);
    const simulatedReceipts = receipts.map(({ status, at, error }) => ({
      status,
      at: at === undefined ? tx.now : millis(at),
      ...(error === undefined ? {} : { error: { code: error, message: "Simulated." } }),
    }));
    const reported = { message, attempt };
    const { message: moved } = await applyReceipts(tx, services, reported, simulatedReceipts);
    // A redaction under way must find the stored response.
    return messageResource(tx.touch(messages, moved));
  },
};

function notSent({ direction, status }: MessageRow): TidingsError {
  if (direction === "inbound") {
    return new TidingsError("conflict", "An inbound message gets no receipts.");
  }
  const waits = status === "scheduled" || status === "queued";
  return new TidingsError(
    "conflict",
    waits
      ? "The message was not sent yet. Wait until it is sent, then simulate receipts."
      : `The message is ${status} and was never sent, so it gets no receipts.`,
  );
}

/** Publishes a simulated event to handlers, consumers, streams and webhooks. */
export const createSandboxEvent: Command<SandboxEvent, Event> = {
  kind: "command",
  name: "sandbox.event",
  input: () => sandboxEventSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { type, contact_id }, { scope, services }) {
    requireSandbox(scope);
    const contact =
      contact_id === undefined ? undefined : await contactOf(tx, services, contact_id);
    const data = sampleData(type, { now: tx.now, ...(contact === undefined ? {} : { contact }) });
    const id = tx.drawId("evt");
    const subject = contact === undefined ? {} : { contact_id: contact.id };
    appendEvent(tx, eventDefinitionOf(type), data, subject, id);
    // The cast is safe: the sample has the data of its type.
    return eventResource({ id, type, created_at: tx.now, data }) as Event;
  },
};

/** The contact is held, so that a concurrent erasure finds the event. */
async function contactOf(tx: Tx, services: Services, id: string): Promise<Contact> {
  const contact = await tx.get(contactById, [id], { hold: true });
  if (contact === undefined) throw unknownContact(id);
  if (contact.merged_into !== null) throw mergedError(contact.merged_into);
  return showContact(tx, contact, services);
}

/**
 * Sends a webhook one sample event, even if the webhook is paused or disabled. The event is not
 * appended to the log of events, so no other subscriber receives it.
 */
export const testWebhook: Command<TestWebhook & ById, Delivery> = {
  kind: "command",
  name: "webhooks.test",
  input: () => withId(testWebhookSchema, "The id of the webhook."),
  status: 202,
  shows: showsOutput,
  async run(tx, { id, type }) {
    const webhook = await requireWebhook(tx, id, { hold: true });
    const [first = "message.received"] = eventTypesOf(webhook.events);
    const event_type = type ?? first;
    const event_id = tx.drawId("evt");
    const data = sampleData(event_type, { now: tx.now });
    const body = JSON.stringify(
      eventResource({ id: event_id, type: event_type, created_at: tx.now, data }),
    );
    const made = writeDelivery(tx, { webhook_id: webhook.id, event_id, event_type, body });
    // Unlike a redelivery, a sample event has no place in the order of a `fifo` webhook.
    const delivery = tx.update(deliveries, made, { manual_at: tx.now, next_attempt_at: null });
    await arm(tx, deliverJob(webhook, tx.now));
    return deliveryResource(delivery, webhook, tx.now);
  },
};

/**
 * Ensures that simulation never touches live data.
 * @throws TidingsError `conflict` in live mode
 */
export function requireSandbox({ mode }: Scope): void {
  if (mode === "live") {
    throw new TidingsError("conflict", "This works only with a key or a handle of sandbox mode.");
  }
}
