import { readOwnAccount } from "../../accounts/index.ts";
import { contactById, sentimentOf, type ContactRow } from "../../contacts/index.ts";
import { firstTimeZone, type ContactId, type MessageId } from "../../kernel/index.ts";
import { messageById, type MessageRow } from "../../messages/index.ts";
import { observations } from "../../observations/index.ts";
import type { Services } from "../../operations/index.ts";
import { messageScoreById } from "../../sentiment/index.ts";
import { scan, type Reads } from "../../store/index.ts";
import { isSaid } from "../handling/answered-messages.ts";
import { findPlaybooks } from "../playbooks/find-playbooks.ts";
import { notAsked } from "../playbooks/play/frames.ts";
import { runById } from "../runs/rows.ts";
import { answersMessages } from "../runs/rules.ts";
import { historyFrom, latestInHistory } from "./message-history.ts";
import type { BegunTurn, TurnFacts } from "./turn-types.ts";

/** Stands in for the session: a single action from a trigger has none. */
const noSession = {
  frames: [],
  paused_by: null,
  guarded_from: 0,
  turns: 0,
  tokens: 0,
  failed_attempts: 0,
} as const;

/** Reads the facts of a turn. They cover only this conversation and its contact. */
export async function readFacts(
  reads: Reads,
  { run, conversation, session, agent }: BegunTurn,
  { language, timeZone }: Pick<Services, "language" | "timeZone">,
  now: number,
): Promise<TurnFacts> {
  const { contact_id } = conversation;
  const state = session ?? noSession;
  const { frames, paused_by, guarded_from } = state;
  const askedId = frames.at(-1)?.asked_in;
  const [
    contact,
    account,
    latest,
    unanswered,
    lowestScore,
    observed,
    pausingRun,
    question,
    playbooks,
  ] = await Promise.all([
    reads.get(contactById, [contact_id]),
    readOwnAccount(reads),
    latestInHistory(reads, run, conversation),
    reads.getAll(
      messageById,
      run.message_ids.map((id) => [id] as const),
    ),
    lowestScoreOf(reads, contact_id, run.message_ids),
    observationsAbout(reads, contact_id, now),
    paused_by === null ? undefined : reads.get(runById, [paused_by]),
    askedId === undefined ? undefined : reads.get(messageById, [askedId]),
    findPlaybooks(reads, {
      own: agent.playbook_ids,
      // A triggered playbook need not be one of the agent's own.
      requested: run.request?.type === "playbook" ? [run.request.playbook_id] : [],
      frames,
    }),
  ]);
  const isLost = question !== undefined && !isSaid(question);
  const waitsForApproval =
    pausingRun !== undefined && pausingRun.id !== run.id && pausingRun.finished_at === null;
  return {
    agent,
    session: isLost ? { ...state, frames: notAsked(frames) } : state,
    language,
    channel: unanswered.at(-1)?.channel ?? (conversation.medium === "webchat" ? "webchat" : "sms"),
    contact: contactFacts(contact, [account?.time_zone, timeZone]),
    history: historyFrom(run, { latest, own: unanswered, guarded_from }),
    contactText: unanswered.flatMap(({ body }) => body ?? []).join("\n"),
    writtenAt: (answersMessages(run) ? unanswered.at(-1)?.created_at : undefined) ?? now,
    lowestScore,
    suspectsOptOut: unanswered.some(({ opt_out_suspected }) => opt_out_suspected),
    observations: observed,
    playbooks: playbooks.startable,
    findPlaybook: playbooks.findPlaybook,
    request: run.request,
    isResumed: run.resumed,
    isAwaited: pausingRun?.id === run.id,
    isPaused: waitsForApproval || (question !== undefined && isUnsent(question)),
    now,
  };
}

/**
 * Whether a message has not been sent yet, so that the contact cannot know it: a policy has
 * deferred it, or it waits in the queue.
 */
function isUnsent({ status }: Pick<MessageRow, "status">): boolean {
  return status === "scheduled" || status === "queued";
}

function contactFacts(
  contact: ContactRow | undefined,
  otherTimeZones: readonly (string | null | undefined)[],
): TurnFacts["contact"] {
  return {
    name: contact?.name ?? null,
    phone: contact?.phone ?? null,
    language: contact?.language ?? null,
    time_zone: firstTimeZone(contact?.time_zone, ...otherTimeZones),
    sentiment: contact?.sentiment_state ? sentimentOf(contact.sentiment_state) : null,
  };
}

const maxObservations = 20;

/** Returns the latest observations about a contact that have not expired, newest first. */
async function observationsAbout(
  reads: Reads,
  contact_id: ContactId,
  now: number,
): Promise<readonly string[]> {
  const { rows } = await scan(reads, {
    index: observations.primary,
    prefix: [contact_id],
    order: "descending",
    // Expired observations are removed only from time to time.
    keep: ({ expires_at }) => expires_at === null || expires_at > now,
    limit: maxObservations,
  });
  return rows.map(({ content }) => content);
}

async function lowestScoreOf(
  reads: Reads,
  contact_id: ContactId,
  message_ids: readonly MessageId[],
): Promise<number | null> {
  const rows = await reads.getAll(
    messageScoreById,
    message_ids.map((id) => [contact_id, id] as const),
  );
  const scores = rows.flatMap(({ score }) => (score === null ? [] : [score]));
  return scores.length === 0 ? null : Math.min(...scores);
}
