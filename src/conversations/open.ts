import { type Conversation, type OpenConversation, openConversationSchema } from "./types.ts";
import { type Command, showsOutput } from "../operations/index.ts";
import { findRecipient, meetContact } from "../contacts/index.ts";
import { beginConversation, findConversation, isActive } from "./begin.ts";
import { showConversation } from "./show.ts";

/** Begins a conversation before anything is said; where the contact has an active one on the medium, that is the answer. */
export const openConversation: Command<OpenConversation, Conversation> = {
  kind: "command",
  name: "conversations.open",
  input: () => openConversationSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { to, medium = "text" }, { services }) {
    const { drawId } = services;
    const known = await findRecipient(tx, medium, to);
    const current = known && (await findConversation(tx, known));
    if (isActive(current)) return showConversation(tx, current);
    const identity = known ?? (await meetContact(tx, drawId, services.secret, medium, to));
    return showConversation(tx, await beginConversation(tx, drawId, identity, current));
  },
};
