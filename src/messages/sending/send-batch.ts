import { maxItemErrors, parse, TidingsError } from "../../kernel/index.ts";
import { inputSchema, type Command, type Procedure, type Steps } from "../../operations/index.ts";
import type { SendMessage } from "../input-types.ts";
import type { Message } from "../types.ts";
import {
  batchMessagesSchema,
  type BatchMessages,
  type BatchResult,
  type BatchResults,
} from "./batch-types.ts";
import { send, sendMessage } from "./send.ts";

const sendBatchItem: Command<SendMessage, Message> = {
  ...sendMessage,
  isItem: true,
  run: (tx, input, call) => send(tx, input, call, { isInBatch: true }),
};

/**
 * The number of items in progress at once. They share commits. With more, the account's single
 * messages would wait longer for theirs.
 */
const chunk = 32;

/** Sends each message by itself. An invalid item does not affect the others. */
export const sendBatch: Procedure<BatchMessages, BatchResults> = {
  kind: "procedure",
  name: "messages.batch",
  input: batchMessagesSchema,
  status: 200,
  until: ({ messages }) =>
    messages.reduce<number>((last, item) => Math.max(last, sendTimeOf(item)), 0),
  async run(steps, { messages }, call) {
    const canResume = call.idempotency_key !== null;
    const schema = inputSchema(sendBatchItem, call.services.limits);
    const data: BatchResult[] = [];
    for (let start = 0; start < messages.length; start += chunk) {
      const items = messages.slice(start, start + chunk);
      data.push(
        ...(await Promise.all(
          items.map((item, i) => sendItem(steps, schema, item, start + i, canResume)),
        )),
      );
      await steps.yieldToEventLoop();
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

/** Whether an error concerns the whole batch, such as a call inside a transaction. */
const isOfBatch = ({ code }: TidingsError): boolean => code === "invalid_option";

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
    const draft = parse(schema, item, { limit: maxItemErrors });
    const { value } = await steps.execute(sendBatchItem, draft, index);
    return { ok: true, index, message: value };
  } catch (error) {
    if (!(error instanceof TidingsError) || isOfBatch(error) || (canResume && error.retryable)) {
      throw error;
    }
    const { code, status, message: detail, errors } = error;
    return { ok: false, index, code, status, detail, errors: [...errors] };
  }
}
