import { isSaid } from "../handling/answered-messages.ts";
import type { MessageHistory } from "./turn-types.ts";
import type { ConversationRow } from "../../conversations/index.ts";
import type { MessageRow } from "../../messages/index.ts";
import type { RunRow } from "../runs/rows.ts";
import { answersMessages } from "../runs/rules.ts";
import type { ModelMessage } from "../../ports/index.ts";

/** The maximum number of characters of the history. */
const maxCharacters = 12_000;

interface HeardMessages {
  /** The sequence number of the contact's last message that the agent has read. */
  readonly heard_through: number;
  readonly unansweredIds: ReadonlySet<string>;
}

interface HistoryMarks extends HeardMessages {
  /** The sequence number of the last message that the loop guard ignores. */
  readonly guarded_from: number;
}

/**
 * Returns the history of a turn from rows with the newest message first. The contact's messages
 * that the agent has not read yet are left out, and messages to the contact that were not sent.
 */
export function historyFrom(
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

/**
 * Returns which messages a run has read. One that answers no messages only begins once all are
 * answered, so it may see them all, and none of them waits for an answer.
 */
export function heardBy(run: RunRow, { message_count }: ConversationRow): HeardMessages {
  return answersMessages(run)
    ? { heard_through: run.heard_through, unansweredIds: new Set(run.message_ids) }
    : { heard_through: message_count, unansweredIds: new Set() };
}
