import { messageResource } from "./reads.ts";
import { mediumOf, parse, TidingsError } from "../kernel/index.ts";
import { channelOf } from "./rules.ts";
import {
  type BatchMessages,
  batchMessagesSchema,
  type BatchResult,
  type BatchResults,
} from "./batch-types.ts";
import { type SendMessage, sendMessageSchema } from "./input-types.ts";
import type { Message } from "./types.ts";
import { type Command, inputSchema, type Procedure, type Steps } from "../operations/index.ts";
import { acceptMessage } from "./accept.ts";
import { chooseSender } from "../senders/index.ts";
import { findRecipient, createContactFor, recipientMark } from "../contacts/index.ts";
import { beginConversation, findConversation, isActive } from "../conversations/index.ts";

/** Queues or schedules a message. Any engine may hand it over. */
export const sendMessage: Command<SendMessage, Message> = {
  kind: "command",
  name: "messages.send",
  input: sendMessageSchema,
  status: 201,
  shows: ({ to, ...draft }, message, { scope, services }) =>
    message?.id ?? recipientMark(services.secret, scope, mediumOf(channelOf(draft)), to),
  storesKey: true,
  async run(tx, input, call) {
    const { drawId } = call.services;
    const channel = channelOf(input);
    const medium = mediumOf(channel);
    const known = await findRecipient(tx, medium, input.to);
    const identity =
      known ?? (await createContactFor(tx, drawId, call.services.secret, medium, input.to));
    const request = {
      channel,
      from: input.from,
      last: identity.last_sender_id,
      to: identity.address,
    };
    // A new contact has no conversation yet.
    const [sender, current] = await Promise.all([
      chooseSender(tx, request, call.services.transports),
      known && findConversation(tx, known),
    ]);
    const continues = isActive(current);
    const conversation = continues
      ? current
      : await beginConversation(tx, drawId, identity, current);
    const { caller } = call;
    const author = {
      type: "api" as const,
      ...(caller.type === "key" ? { id: caller.key_id } : {}),
    };
    const correspondence = {
      channel,
      identity,
      sender,
      conversation,
      isNewConversation: !continues,
      isNewContact: known === undefined,
      author,
    };
    return messageResource(await acceptMessage(tx, call, input, correspondence));
  },
};

/** The number of items in progress at once: as many as share a commit. */
const chunk = 64;

/** Sends each message by itself. An invalid item does not affect the others. */
export const sendBatch: Procedure<BatchMessages, BatchResults> = {
  kind: "procedure",
  name: "messages.batch",
  input: batchMessagesSchema,
  status: 200,
  until: ({ messages }) => Math.max(0, ...messages.map(sendTimeOf)),
  async run(steps, { messages }, call) {
    const canResume = call.idempotency_key !== null;
    const schema = inputSchema(sendMessage, call.services.limits);
    const data: BatchResult[] = [];
    for (let start = 0; start < messages.length; start += chunk) {
      const items = messages.slice(start, start + chunk);
      data.push(
        ...(await Promise.all(
          items.map((item, i) => sendItem(steps, schema, item, start + i, canResume)),
        )),
      );
    }
    return { data };
  },
};

/** Returns the send time of an item, or 0. An invalid time is reported when the item is sent. */
function sendTimeOf(item: unknown): number {
  const send_at: unknown =
    typeof item === "object" && item !== null && "send_at" in item ? item.send_at : undefined;
  const time = typeof send_at === "string" ? Date.parse(send_at) : Number.NaN;
  return Number.isNaN(time) ? 0 : Math.min(time, Date.parse("9999-01-01"));
}

/**
 * @throws retryable errors if the request has an idempotency key: a repeated request resumes.
 * Without a key, the caller must learn which items were sent.
 */
async function sendItem(
  steps: Steps,
  schema: ReturnType<typeof sendMessage.input>,
  item: unknown,
  index: number,
  canResume: boolean,
): Promise<BatchResult> {
  try {
    const { value } = await steps.execute(sendMessage, parse(schema, item), index);
    return { ok: true, index, message: value };
  } catch (error) {
    if (!(error instanceof TidingsError) || (canResume && error.retryable)) throw error;
    const { code, status, message: detail, errors } = error;
    return { ok: false, index, code, status, detail, errors: [...errors] };
  }
}
