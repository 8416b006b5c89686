import { attemptByProviderId, type AttemptRow, type MessageRow, outbox } from "./rows.ts";
import type { LookupAnswer } from "../ports/index.ts";
import { type Tx, unscoped } from "../store/index.ts";

/** More that are alike say nothing, however many of them are others'. */
const mostAlike = 100;

/**
 * Which of the carrier's messages is the attempt's, where all are like it: the one that no other attempt has, if there is just one. While
 * another message of the conversation is at the carrier, that one may be its.
 */
export async function tellApart(
  tx: Tx,
  { conversation_id }: MessageRow,
  { id, transport }: AttemptRow,
  answer: LookupAnswer,
): Promise<Exclude<LookupAnswer, { outcome: "alike" }>> {
  if (answer.outcome !== "alike") return answer;
  const { messages } = answer;
  const [next] = await tx.list(outbox, [conversation_id], 1);
  if (messages.length > mostAlike || next?.status === "sending") return { outcome: "unknown" };
  const owners = await Promise.all(
    messages.map(({ provider_message_id }) =>
      unscoped(tx).get(attemptByProviderId, [transport, provider_message_id]),
    ),
  );
  const free = messages.filter((_, i) => owners[i] === undefined || owners[i].id === id);
  const [only] = free;
  return only === undefined || free.length > 1
    ? { outcome: "unknown" }
    : { outcome: "sent", ...only };
}
