import { findJob } from "../queue/index.ts";
import type { Tx } from "../store/index.ts";
import { attemptsOfMessage, messageById } from "./rows.ts";

/** Whether the engine may still hand the message over, or is still looking its last attempt up. */
export async function isMessageInProgress(tx: Tx, id: string): Promise<boolean> {
  const message = await tx.get(messageById, [id]);
  if (message === undefined) return false;
  if (["scheduled", "queued", "sending"].includes(message.status)) return true;
  // The look-up may find that nothing was sent, and then the message is sent again.
  const attempt = await tx.get(attemptsOfMessage, [message.id, message.attempts]);
  return (
    attempt !== undefined &&
    (await findJob(tx, { kind: "follow-up", key: { attempt_id: attempt.id } })) !== undefined
  );
}
