import {
  attemptsOfMessage,
  heedRefusal,
  type Message,
  messageById,
  messageResource,
  takeReceipts,
} from "../messages/index.ts";
import { type SandboxReceipts, sandboxReceiptsSchema } from "./types.ts";
import { millis, notFound, TidingsError } from "../kernel/index.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { refuseLive } from "./refuse-live.ts";

/** Receipts for a message, as a carrier might send them: in any order, more than once. */
export const receiveSandboxReceipts: Command<SandboxReceipts, Message> = {
  kind: "command",
  name: "sandbox.receipts",
  input: () => sandboxReceiptsSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id, receipts }, { scope, services }) {
    refuseLive(scope);
    const message = await tx.get(messageById, [id]);
    if (message === undefined) throw notFound("message");
    const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
    if (attempt === undefined) {
      throw new TidingsError(
        "conflict",
        "The message was not handed over yet: there is nothing to receipt.",
      );
    }
    const brought = receipts.map(({ status, at, error }) => ({
      status,
      at: at === undefined ? tx.now : millis(at),
      ...(error === undefined ? {} : { error: { code: error, message: "Simulated." } }),
    }));
    const moved = await takeReceipts(tx, services, message, attempt, brought);
    await heedRefusal(tx, services, message, moved);
    return messageResource(moved);
  },
};
