import { isSaid } from "../handling/answered-messages.ts";
import type { BegunTurn, MessageHistory, TurnFacts } from "./turn-types.ts";
import { readOwnAccount } from "../../accounts/index.ts";
import { contactById, type ContactRow, sentimentOf } from "../../contacts/index.ts";
import type { ConversationRow } from "../../conversations/index.ts";
import { messageById, type MessageRow, messagesOfConversation } from "../../messages/index.ts";
import { observations } from "../../observations/index.ts";
import { callsOf, maxPlaybooks } from "../playbooks/rules.ts";
import { playbookById, playbookVersionOf } from "../playbooks/rows.ts";
import type { PinnedPlaybook } from "../playbooks/types.ts";
import type { Frame } from "../playbooks/frames.ts";
import { runById, type RunRow } from "../runs/rows.ts";
import { answersMessages, maxHistory } from "../runs/rules.ts";
import { messageScoreById } from "../../sentiment/index.ts";
import {
  type ContactId,
  firstTimeZone,
  type MessageId,
  type PlaybookId,
} from "../../kernel/index.ts";
import type { Services } from "../../operations/index.ts";
import type { ModelMessage } from "../../ports/index.ts";
import type { Reads } from "../../store/index.ts";

/** Stands in for the session: a single action from a trigger has none. */
const blank = {
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
  const { frames, paused_by, guarded_from } = session ?? blank;
  const [contact, account, history, unanswered, lowest, observed, pausingRun, library] =
    await Promise.all([
      reads.get(contactById, [contact_id]),
      readOwnAccount(reads),
      reads.range({
        index: messagesOfConversation,
        prefix: [conversation.id],
        order: "descending",
        limit: maxHistory,
      }),
      reads.getAll(
        messageById,
        run.message_ids.map((id) => [id] as const),
      ),
      lowestScore(reads, contact_id, run.message_ids),
      observationsAbout(reads, contact_id, now),
      paused_by === null ? undefined : reads.get(runById, [paused_by]),
      readLibrary(reads, {
        ids: agent.playbook_ids,
        // A triggered playbook need not be one of the agent's own.
        requested: run.request?.type === "playbook" ? [run.request.playbook_id] : [],
        frames,
      }),
    ]);
  return {
    agent,
    session: session ?? blank,
    language,
    channel: unanswered.at(-1)?.channel ?? (conversation.medium === "webchat" ? "webchat" : "sms"),
    contact: contactFacts(contact, [account?.time_zone, timeZone]),
    history: historyFrom(history, { ...heardBy(run, conversation), guarded_from }),
    contactText: unanswered.flatMap(({ body }) => body ?? []).join("\n"),
    writtenAt: (answersMessages(run) ? unanswered.at(-1)?.created_at : undefined) ?? now,
    lowest,
    suspectsOptOut: unanswered.some(({ opt_out_suspected }) => opt_out_suspected),
    observations: observed,
    playbooks: library.startable,
    library: library.find,
    request: run.request,
    isResumed: run.resumed,
    isAwaited: pausingRun?.id === run.id,
    approved: run.calls.filter(({ status }) => status === "approved"),
    isPaused:
      pausingRun !== undefined && pausingRun.id !== run.id && pausingRun.finished_at === null,
    now,
  };
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
/** More are read than shown, because expired observations are removed only from time to time. */
const maxObservationsRead = 100;

/** Returns the latest observations about a contact that have not expired, newest first. */
async function observationsAbout(
  reads: Reads,
  contact_id: ContactId,
  now: number,
): Promise<readonly string[]> {
  const rows = await reads.range({
    index: observations.primary,
    prefix: [contact_id],
    order: "descending",
    limit: maxObservationsRead,
  });
  return rows
    .filter(({ expires_at }) => expires_at === null || expires_at > now)
    .slice(0, maxObservations)
    .map(({ content }) => content);
}

/** Returns the lowest sentiment score of the messages. Null if none is scored. */
async function lowestScore(
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

interface HeardMessages {
  /** The sequence number of the contact's last message that the agent has read. */
  readonly heard_through: number;
  readonly unansweredIds: ReadonlySet<string>;
}

/**
 * Returns which messages a run has read. One that answers no messages only begins once all are
 * answered, so it may see them all, and none of them waits for an answer.
 */
function heardBy(run: RunRow, { message_count }: ConversationRow): HeardMessages {
  return answersMessages(run)
    ? { heard_through: run.heard_through, unansweredIds: new Set(run.message_ids) }
    : { heard_through: message_count, unansweredIds: new Set() };
}

/** The maximum number of characters of the history. */
const maxCharacters = 12_000;

interface HistoryMarks extends HeardMessages {
  /** The sequence number of the last message that the loop guard ignores. */
  readonly guarded_from: number;
}

/**
 * Returns the history of a turn from rows with the newest message first. The contact's messages
 * that the agent has not read yet are left out, and messages to the contact that were not sent.
 */
function historyFrom(
  rows: readonly MessageRow[],
  { heard_through, guarded_from, unansweredIds }: HistoryMarks,
): MessageHistory {
  const messages: ModelMessage[] = [];
  let characters = 0;
  let unanswered = 0;
  let guarded = 0;
  for (const row of rows) {
    const { id, body, media, direction, author_type, sequence, created_at } = row;
    const isPart = direction === "inbound" ? sequence <= heard_through : isSaid(row);
    if (!isPart) continue;
    // Attachments are not shown, only their content types. Without a mark in place of a redacted
    // text, the model would answer the message before it.
    const text = [
      body ?? "[redacted]",
      ...media.map(({ content_type }) => `[${content_type ?? "a file"}]`),
    ]
      .join(" ")
      .trim();
    characters += text.length;
    if (characters > maxCharacters && messages.length > 0) break;
    const from = direction === "inbound" ? "contact" : speaker(author_type);
    messages.unshift({ from, text: text.slice(0, maxCharacters), at: created_at });
    if (unansweredIds.has(id)) unanswered = messages.length;
    if (sequence > guarded_from) guarded = messages.length;
  }
  return { messages, unanswered, guarded };
}

function speaker(author: MessageRow["author_type"]): ModelMessage["from"] {
  return author === "agent" || author === "human" ? author : "host";
}

interface LibraryOf {
  readonly ids: readonly PlaybookId[];
  readonly requested: readonly PlaybookId[];
  readonly frames: readonly Frame[];
}

interface LoadedLibrary {
  readonly startable: readonly PinnedPlaybook[];
  readonly find: TurnFacts["library"];
}

/**
 * Loads the playbooks that an agent may start, the playbooks that these call, and the versions that
 * the conversation is playing.
 */
async function readLibrary(
  reads: Reads,
  { ids, requested, frames }: LibraryOf,
): Promise<LoadedLibrary> {
  const current = new Map<string, PinnedPlaybook>();
  const pinned = new Map<string, PinnedPlaybook>();
  const versions = await reads.getAll(
    playbookVersionOf,
    frames.map(({ playbook_id, revision }) => [playbook_id, revision] as const),
  );
  for (const { playbook_id: id, revision, definition } of versions) {
    pinned.set(`${id} ${revision}`, { id, revision, definition });
  }
  let wanted = [...ids, ...requested, ...versions.flatMap(({ definition }) => callsOf(definition))];
  // Every playbook that can be played is loaded: an account has no more than this.
  for (const seen = new Set<string>(); wanted.length > 0 && seen.size < maxPlaybooks;) {
    const next = [...new Set(wanted)]
      .filter((id) => !seen.has(id))
      .slice(0, maxPlaybooks - seen.size);
    for (const id of next) seen.add(id);
    const rows = await reads.getAll(
      playbookById,
      next.map((id) => [id] as const),
    );
    for (const { id, enabled, revision, definition } of rows) {
      if (enabled) current.set(id, { id, revision, definition });
    }
    wanted = rows.flatMap(({ definition }) => callsOf(definition));
  }
  return {
    startable: ids.flatMap((id) => current.get(id) ?? []),
    find: (id, revision) =>
      revision === undefined
        ? current.get(id)
        : (pinned.get(`${id} ${revision}`) ?? sameRevision(current.get(id), revision)),
  };
}

/** Finds a playbook that started in this turn. */
function sameRevision(
  current: PinnedPlaybook | undefined,
  revision: number,
): PinnedPlaybook | undefined {
  return current?.revision === revision ? current : undefined;
}
