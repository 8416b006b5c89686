import { noteResource } from "./resource.ts";
import { conversationById, notes } from "./rows.ts";
import { type Note, type ThreadQuery, threadQuerySchema } from "./types.ts";
import { notFound, type Page } from "../kernel/index.ts";
import { mapPage, page, type Query } from "../operations/index.ts";

/** The notes of a conversation, newest first. */
export const listNotes: Query<ThreadQuery, Page<Note>> = {
  kind: "query",
  name: "conversations.notes",
  input: () => threadQuerySchema,
  async run(reads, { id, ...input }, call) {
    if ((await reads.get(conversationById, [id])) === undefined) {
      throw notFound("conversation");
    }
    const walk = {
      index: notes.primary,
      prefix: [id],
      order: "descending",
      operation: "conversations.notes",
      filters: { id },
      input,
    } as const;
    return mapPage(await page(reads, walk, call), noteResource);
  },
};
