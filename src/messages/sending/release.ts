import { conversationById } from "../../conversations/index.ts";
import type { Services } from "../../operations/index.ts";
import { arm, finish, prefetchJob, type Claim } from "../../queue/index.ts";
import { senderByAddress } from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import { rememberNextAttempt } from "../hand-over/begin-attempt.ts";
import { sendJob } from "../job-orders.ts";
import { chooseRoute } from "../routes/choose-route.ts";
import { messageById, scheduledInConversation, type MessageRow } from "../rows.ts";
import { release } from "../rules.ts";
import { stateOf } from "../stored-state.ts";
import { writeState, writeTimeline } from "../write-state.ts";

/** The maximum number of messages that one transaction queues. */
const maxReleased = 50;

/**
 * Queues a scheduled message that is due, after those before it in its conversation. Each takes the
 * last place of the thread. A message edited to a later time keeps waiting.
 *
 * Quiet hours and callers schedule many messages for one time. Each has a job of its own, and
 * several engines run these at once, so a later message would otherwise be queued first.
 */
export async function releaseMessage(
  tx: Tx,
  claim: Claim<"release">,
  services: Services,
): Promise<void> {
  const message = await tx.get(messageById, [claim.key.message_id]);
  if (message?.status !== "scheduled") return finish(tx, claim);

  if (release(stateOf(message), tx.now).decision === "none") {
    await finish(tx, claim, { againAt: message.send_at ?? tx.now });
    return;
  }
  const { conversation_id } = message;
  prefetchJob(tx, { kind: "send", key: { conversation_id } });
  tx.prefetch(() => [{ index: conversationById, key: [conversation_id] }]);
  tx.prefetch(() => [{ index: senderByAddress, key: [message.from] }]);
  const first = await tx.list(scheduledInConversation, [conversation_id], maxReleased);
  const last = first.findIndex(({ id }) => id === message.id);
  for (const each of last === -1 ? first : first.slice(0, last + 1)) {
    const decision = release(stateOf(each), tx.now);
    if (decision.decision === "none") continue;
    const patch = await newTransport(tx, services, each);
    const updated = await writeState(tx, each, decision.state, patch);
    writeTimeline(tx, each, updated, null);
    rememberNextAttempt(tx, updated);
    await arm(tx, sendJob(updated, tx.now));
  }
  // If more are before the message, the job continues at once.
  await finish(tx, claim, last === -1 ? { againAt: tx.now } : {});
}

/**
 * Returns the transport of a message that waited while its sender moved to another transport, or
 * while the routes changed. Without it, the message would wait for a transport that no engine may
 * have any more. After an attempt, the transport stays.
 */
async function newTransport(
  tx: Tx,
  services: Services,
  { attempts, channel, from, to, transport }: MessageRow,
): Promise<Partial<MessageRow>> {
  const sender = attempts > 0 ? undefined : await tx.get(senderByAddress, [from]);
  if (sender === undefined || !sender.channels.includes(channel)) return {};
  if (transport === sender.transport) return {};
  const facts = { mode: tx.scope.mode, channel, from, to };
  const { transports } = chooseRoute(services, facts, sender.transport);
  return transports.some((each) => each === transport) ? {} : { transport: transports[0] };
}
