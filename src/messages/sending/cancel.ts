import { byIdSchema, notFound, TidingsError, type ById } from "../../kernel/index.ts";
import { showsOutput, type Command } from "../../operations/index.ts";
import { arm, disarm } from "../../queue/index.ts";
import { sendJob } from "../job-orders.ts";
import { messageById } from "../rows.ts";
import { cancel } from "../rules.ts";
import { messageResource } from "../show.ts";
import { stateOf } from "../stored-state.ts";
import type { Message } from "../types.ts";
import { writeStateAndTimeline } from "../write-state.ts";

/**
 * Cancels a scheduled or queued message. Cancel and hand-over write the same row, so only one
 * wins.
 */
export const cancelMessage: Command<ById, Message> = {
  kind: "command",
  name: "messages.cancel",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }) {
    const message = await tx.get(messageById, [id]);
    if (message === undefined) throw notFound("message", id);
    if (message.direction === "inbound") {
      throw new TidingsError("not_cancelable", "An inbound message cannot be canceled.");
    }
    const decision = cancel(stateOf(message));
    if (decision.decision === "refused") {
      throw new TidingsError(
        "not_cancelable",
        `The message is ${decision.status} and can no longer be canceled.`,
      );
    }
    const updated = await writeStateAndTimeline(tx, message, decision.state);
    if (message.status === "scheduled") {
      await disarm(tx, { kind: "release", key: { message_id: message.id } });
    }
    // The canceled message may have blocked later messages of its conversation.
    else await arm(tx, sendJob(updated, tx.now));
    return messageResource(updated);
  },
};
