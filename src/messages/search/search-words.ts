import type { Scope } from "../../kernel/index.ts";
import { storedWords, wordsOf } from "../../operations/index.ts";
import type { Tx } from "../../store/index.ts";
import { messageWords, messageWordsById, type MessageRow } from "../rows.ts";

/** The maximum number of words of a message. Further words are ignored. */
const maxWords = 100;

type Written = Pick<MessageRow, "id" | "author_type" | "body">;

/** Lets the search find a new message by its words, unless a program wrote it. */
export function addWords(tx: Tx, message: Written): void {
  const words = wordsIn(tx.scope, message);
  if (words !== null) tx.insert(messageWords, { id: message.id, words });
}

/** Updates the words of a message whose text has changed. */
export async function updateWords(tx: Tx, message: Written): Promise<void> {
  if (!isSearched(message)) return;
  const known = await tx.get(messageWordsById, [message.id]);
  const words = wordsIn(tx.scope, message);
  if (words === null) {
    if (known !== undefined) tx.remove(messageWords, known);
  } else if (known === undefined) tx.insert(messageWords, { id: message.id, words });
  else tx.update(messageWords, known, { words });
}

/** Removes the words of a message that is removed. */
export async function removeWords(tx: Tx, message: Written): Promise<void> {
  await updateWords(tx, { ...message, body: null });
}

function isSearched({ author_type }: Written): boolean {
  return author_type !== "api" && author_type !== "system";
}

/** Null if there is nothing to search. */
function wordsIn(scope: Scope, message: Written): string | null {
  if (message.body === null || !isSearched(message)) return null;
  const { account_id, mode } = scope;
  const words = [...new Set(wordsOf(message.body))].slice(0, maxWords);
  return storedWords({ account_id, mode, id: message.id }, words);
}
