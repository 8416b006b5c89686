import { type ById, byIdSchema, notFound, TidingsError } from "../kernel/index.ts";
import { arm, disarm } from "../queue/index.ts";
import { messageResource } from "./resource.ts";
import { messageById } from "./rows.ts";
import { cancel } from "./rules.ts";
import { stateOf } from "./state.ts";
import type { Message } from "./types.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { moveMessage } from "./move.ts";
import { sendJob } from "./send-jobs.ts";
import { writeTimeline } from "./write-timeline.ts";

/** Calls a message back that nobody took yet. Cancel wins or the hand-over wins: both write the message's row. */
export const cancelMessage: Command<ById, Message> = {
  kind: "command",
  name: "messages.cancel",
  input: () => byIdSchema,
  status: 200,
  shows: showsOutput,
  async run(tx, { id }, { services }) {
    const message = await tx.get(messageById, [id]);
    if (message === undefined) throw notFound("message");
    if (message.direction === "inbound") {
      throw new TidingsError("not_cancelable", "An inbound message can't be canceled.");
    }
    const decision = cancel(stateOf(message));
    if (decision.decision === "refused") {
      throw new TidingsError(
        "not_cancelable",
        `The message is ${decision.status} and can't be canceled any more.`,
      );
    }
    const { drawId } = services;
    const moved = await moveMessage(tx, drawId, message, decision.state);
    writeTimeline(tx, drawId, message, moved, null);
    if (message.status === "scheduled") {
      await disarm(tx, { kind: "release", key: { message_id: message.id } });
    }
    // It may have waited for its sender's turn, and those behind it with it.
    else await arm(tx, sendJob(moved, tx.now));
    return messageResource(moved);
  },
};
