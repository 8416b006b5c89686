import {
  firstNumber,
  lastSequence,
  placeNumber,
  type ConversationRow,
} from "../../conversations/index.ts";
import { firstCharacters } from "../../kernel/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { ModelMessage } from "../../ports/index.ts";
import { isSaid } from "../handling/answered-messages.ts";
import type { RunRow } from "../runs/rows.ts";
import { answersMessages, maxHistory } from "../runs/rules.ts";
import type { MessageHistory } from "./turn-types.ts";

/** The maximum number of characters of the history. */
const maxCharacters = 12_000;

interface HeardMessages {
  /** The sequence number of the contact's last message that the agent has read. */
  readonly heard_through: number;
  readonly unansweredIds: ReadonlySet<string>;
}

/**
 * Whether a message belongs to the history. The contact's messages that the agent has not read yet
 * do not, and neither do messages to the contact that were not sent.
 */
export function isInHistory(
  row: MessageRow,
  { heard_through }: Pick<HeardMessages, "heard_through">,
): boolean {
  return row.direction === "inbound" ? row.sequence <= heard_through : isSaid(row);
}

interface HistoryMarks extends Pick<HeardMessages, "unansweredIds"> {
  /** The sequence number of the last message that the loop guard ignores. */
  readonly guarded_from: number;
}

/** Returns the history of a turn from the messages that belong to it, the newest first. */
export function historyFrom(
  parts: readonly MessageRow[],
  { guarded_from, unansweredIds }: HistoryMarks,
): MessageHistory {
  const isUnanswered = ({ id }: MessageRow): boolean => unansweredIds.has(id);
  // What waits for an answer goes first, however many messages the host has sent since.
  const byNeed = [...parts.filter(isUnanswered), ...parts.filter((row) => !isUnanswered(row))];
  const chosen = new Set(firstThatFit(byNeed));
  const shown = parts.filter((row) => chosen.has(row)).toReversed();
  const oldest = shown.findIndex(isUnanswered);
  return {
    messages: shown.map(modelMessage),
    firstSequence: shown.length === 0 ? null : Math.min(...shown.map(firstNumber)),
    unanswered: oldest === -1 ? 0 : shown.length - oldest,
    guarded: shown.filter((row) => placeNumber(row) > guarded_from).length,
  };
}

/** Returns the first messages, as many as fit into a history. */
function firstThatFit(rows: readonly MessageRow[]): readonly MessageRow[] {
  let characters = 0;
  const end = rows.slice(0, maxHistory).findIndex((row, i) => {
    characters += textOf(row).length;
    return characters > maxCharacters && i > 0;
  });
  return rows.slice(0, end === -1 ? maxHistory : end);
}

function modelMessage(row: MessageRow): ModelMessage {
  const from = row.direction === "inbound" ? "contact" : speaker(row.author_type);
  // A message for later was said when it took its place.
  const at = row.placed_at === 0 ? row.created_at : row.placed_at;
  return { from, text: firstCharacters(textOf(row), maxCharacters), at };
}

/**
 * Attachments are not shown, only their content types. Without a mark in place of a redacted text,
 * the model would answer the message before it.
 */
function textOf({ body, media }: MessageRow): string {
  const files = media.map(({ content_type }) => `[${content_type ?? "a file"}]`);
  return [body ?? "[redacted]", ...files].join(" ").trim();
}

function speaker(author: MessageRow["author_type"]): ModelMessage["from"] {
  return author === "agent" || author === "human" ? author : "host";
}

/**
 * Returns which messages a run has read. One that answers no messages only begins once all are
 * answered, so it may see them all, and none of them waits for an answer.
 */
export function heardBy(run: RunRow, conversation: ConversationRow): HeardMessages {
  return answersMessages(run)
    ? { heard_through: run.heard_through, unansweredIds: new Set(run.message_ids) }
    : { heard_through: lastSequence(conversation), unansweredIds: new Set() };
}
