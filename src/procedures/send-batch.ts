import { type BatchMessages, batchMessagesSchema, type BatchResult, type BatchResults } from "../domain/messages/types.ts";
import { TidingsError } from "../errors.ts";
import type { Procedure, Steps } from "../operation.ts";
import { parse } from "../validation.ts";
import { sendMessage } from "../commands/send-message.ts";

/** Items that are under way at once: as many as share a commit. */
const chunk = 64;

/** Sends many messages, each by itself: a bad one harms no other. */
export const sendBatch: Procedure<BatchMessages, BatchResults> = {
  kind: "procedure",
  name: "messages.batch",
  input: batchMessagesSchema,
  status: 200,
  async run(steps, { messages }, call) {
    const schema = sendMessage.input(call.services.limits);
    const data: BatchResult[] = [];
    for (let start = 0; start < messages.length; start += chunk) {
      const items = messages.slice(start, start + chunk);
      data.push(...(await Promise.all(items.map((item, i) => sendItem(steps, schema, item, start + i)))));
    }
    return { data };
  },
};

/** @throws what says nothing of the item: then the whole request is to be tried again, and goes on where it was */
async function sendItem(
  steps: Steps,
  schema: ReturnType<typeof sendMessage.input>,
  item: unknown,
  index: number,
): Promise<BatchResult> {
  try {
    const { value } = await steps.execute(sendMessage, parse(schema, item), index);
    return { ok: true, index, message: value };
  } catch (error) {
    if (!(error instanceof TidingsError) || error.retryable || error.status >= 500) throw error;
    const { code, status, message: detail, errors } = error;
    return { ok: false, index, code, status, detail, errors: [...errors] };
  }
}
