/** The recent messages of a conversation, as a turn and its model see them. */
import {
  firstNumber,
  lastSequence,
  placeNumber,
  type ConversationRow,
} from "../../conversations/index.ts";
import { firstCharacters } from "../../kernel/index.ts";
import { messagesOfConversation, type MessageRow } from "../../messages/index.ts";
import type { ModelMessage } from "../../ports/index.ts";
import { scan, type Reads } from "../../store/index.ts";
import { isSaid } from "../handling/answered-messages.ts";
import type { RunRow } from "../runs/rows.ts";
import { answersMessages, maxHistory, maxReadForHistory } from "../runs/rules.ts";
import type { MessageHistory } from "./turn-types.ts";

/** The maximum number of characters of the history. */
const maxCharacters = 12_000;

/**
 * Returns the latest messages that belong to the history, the newest first. The contact's messages
 * that the agent has not read yet do not, and neither do messages to the contact that were not
 * sent. These can hide others, so older ones are read until there are enough.
 */
export async function latestInHistory(
  reads: Reads,
  run: RunRow,
  conversation: ConversationRow,
): Promise<readonly MessageRow[]> {
  // A run that answers no messages only begins once all are answered, so it may see them all.
  const heardThrough = answersMessages(run) ? run.heard_through : lastSequence(conversation);
  const { rows } = await scan(
    reads,
    {
      index: messagesOfConversation,
      prefix: [conversation.id],
      order: "descending",
      keep: (row) => (row.direction === "inbound" ? row.sequence <= heardThrough : isSaid(row)),
      limit: maxHistory,
    },
    maxReadForHistory,
  );
  return rows;
}

interface HistoryParts {
  readonly latest: readonly MessageRow[];
  /** The messages of the run. */
  readonly own: readonly MessageRow[];
  /** The sequence number of the last message that the loop guard ignores. */
  readonly guarded_from: number;
}

/**
 * Returns the history of a turn. An answer that waits for its time stands where it was written: it
 * does not answer what the contact has asked since.
 */
export function historyFrom(
  run: RunRow,
  { latest, own, guarded_from }: HistoryParts,
): MessageHistory {
  const rows = new Map([...latest, ...own].map((row) => [row.id, row]));
  const parts = [...rows.values()].toSorted((a, b) => placeNumber(a) - placeNumber(b));
  const waiting = new Set(answersMessages(run) ? run.message_ids : []);
  const isUnanswered = ({ id }: MessageRow): boolean => waiting.has(id);
  // What waits for an answer goes first, however many messages the host has sent since.
  const newest = parts.toReversed();
  const byNeed = [...newest.filter(isUnanswered), ...newest.filter((row) => !isUnanswered(row))];
  const chosen = new Set(firstThatFit(byNeed));
  const shown = parts.filter((row) => chosen.has(row));
  const oldest = shown.findIndex(isUnanswered);
  return {
    messages: shown.map(modelMessage),
    firstSequence: shown.length === 0 ? null : Math.min(...shown.map(firstNumber)),
    unanswered: oldest === -1 ? 0 : shown.length - oldest,
    guarded: shown.filter((row) => placeNumber(row) > guarded_from).length,
  };
}

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
