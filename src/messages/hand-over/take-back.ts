/**
 * Attempts with which no carrier was called: between the commit of the attempt and the call, the
 * stop deadline came, or the process stalled for too long.
 */
import type { Services } from "../../operations/index.ts";
import type { SendAnswer } from "../../ports/index.ts";
import { arm, finish, type Claim } from "../../queue/index.ts";
import type { Tx } from "../../store/index.ts";
import { sendJob } from "../job-orders.ts";
import { attemptById, attempts, messageById, timeline } from "../rows.ts";
import { writeState, writeTimeline } from "../write-state.ts";
import type { BegunAttempt } from "./begin-attempt.ts";
import { recordAnswer } from "./record-answer.ts";

/**
 * The answer that is recorded for an attempt that cannot be taken back, because the message has
 * changed meanwhile: the lease was lost, and another engine recorded that the answer is lost, or a
 * receipt of an earlier attempt came.
 */
const notCalled: SendAnswer = {
  outcome: "rejected",
  error: {
    code: "carrier_unavailable",
    message: "The engine stopped or stalled before it called the carrier.",
  },
  permanent: false,
};

/**
 * Takes an attempt back: the message is queued as before its hand-over, and due at once. The
 * attempt is removed, and with it its number, which no carrier has seen. The timeline keeps the
 * changes of status. Only this process knows that no carrier was called, so this also counts under
 * a lost claim.
 */
export async function takeBack(
  tx: Tx,
  services: Services,
  claim: Claim<"send">,
  begun: BegunAttempt,
): Promise<void> {
  const [message, attempt] = await Promise.all([
    tx.get(messageById, [begun.message.id], { hold: "recent" }),
    tx.get(attemptById, [begun.attempt.id], { hold: "recent" }),
  ]);
  // The account's sandbox may have been reset, or an earlier commit has taken the attempt back and
  // only its result was lost.
  if (message !== undefined && attempt !== undefined) {
    const { number, outcome } = attempt;
    const { attempts: count, expires_at } = message;
    if (message.status !== "sending" || count !== number || outcome !== "pending") {
      await recordAnswer(tx, services, claim, begun, notCalled);
    } else {
      const queued = await writeState(tx, message, {
        status: "queued",
        due_at: tx.now,
        expires_at: expires_at ?? Infinity,
        attempts: number - 1,
      });
      tx.remove(attempts, attempt);
      const { message_id, started_at: at, message_version } = attempt;
      const id = tx.drawId("ent");
      tx.insert(timeline, { message_id, id, at, led_to: "sending", message_version, entry: null });
      writeTimeline(tx, message, queued, null);
      // If the claim was lost, its job may be gone.
      await arm(tx, sendJob(queued, tx.now));
    }
  }
  await finish(tx, claim, { againAt: tx.now });
}
