import { attemptsOfMessage, messageById } from "../messages/rows.ts";
import { messageResource } from "../messages/resource.ts";
import type { Message } from "../messages/types.ts";
import { type SandboxReceipts, sandboxReceiptsSchema } from "./types.ts";
import { millis } from "../kernel/time.ts";
import { notFound, TidingsError } from "../kernel/errors.ts";
import { type Command, showsOutput } from "../operations/operation.ts";
import { takeReceipts } from "../messages/apply-receipt.ts";
import { heedRefusal } from "../messages/apply-refusal.ts";
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
