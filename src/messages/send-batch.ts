import {
  type BatchMessages,
  batchMessagesSchema,
  type BatchResult,
  type BatchResults,
} from "./types.ts";
import { parse, TidingsError } from "../kernel/index.ts";
import { inputSchema, type Procedure, type Steps } from "../operations/index.ts";
import { sendMessage } from "./send.ts";

/** Items that are under way at once: as many as share a commit. */
const chunk = 64;

/** Sends many messages, each by itself: a bad one harms no other. */
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

/** When an item is to be sent, as far as it says so; what is wrong with it is found when its turn comes. */
function sendTimeOf(item: unknown): number {
  const send_at: unknown =
    typeof item === "object" && item !== null && "send_at" in item ? item.send_at : undefined;
  const time = typeof send_at === "string" ? Date.parse(send_at) : Number.NaN;
  return Number.isNaN(time) ? 0 : Math.min(time, Date.parse("9999-01-01"));
}

/**
 * @throws what may pass, where the request has a key: it is to be sent again, and goes on where it was. Without one the caller has to
 * know which items were made.
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
