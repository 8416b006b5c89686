import { noteResource } from "./resource.ts";
import { notes } from "./rows.ts";
import { type AddNote, addNoteSchema, type Note } from "./types.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { findOwnConversation } from "./change.ts";

/** Writes a note that the contact never sees. */
export const addNote: Command<AddNote, Note> = {
  kind: "command",
  name: "conversations.addNote",
  input: () => addNoteSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { id, body, author_id = null }, { services }) {
    const conversation = await findOwnConversation(tx, id);
    const note = tx.insert(notes, {
      conversation_id: conversation.id,
      id: services.drawId("note"),
      author_type: "human",
      author_id,
      body,
      created_at: tx.now,
    });
    return noteResource(note);
  },
};
