import { storedWords, wordsOf } from "../operations/index.ts";
import type { Scope } from "../kernel/index.ts";
import type { MessageRow } from "./rows.ts";

/** The maximum number of words of a message. Further words are ignored. */
const maxWords = 100;

type Written = Pick<MessageRow, "id" | "author_type" | "body">;

/** The search words of a message. Null if it is not searched. */
export function messageWords(scope: Scope, { id, author_type, body }: Written): string | null {
  if (body === null || author_type === "api" || author_type === "system") return null;
  const { account_id, mode } = scope;
  const words = [...new Set(wordsOf(body))].slice(0, maxWords);
  return storedWords({ account_id, mode, id }, words);
}
