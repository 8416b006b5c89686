import { type Conversation, type OpenConversation, openConversationSchema } from "./types.ts";
import { type Command, showsOutput } from "../operations/operation.ts";
import type { Actor } from "../events/append.ts";
import { meetContact } from "../contacts/find.ts";
import { findRecipient } from "../contacts/find-recipient.ts";
import { beginConversation, findConversation, isActive } from "./begin.ts";
import { showConversation } from "./show.ts";

/** Begins a conversation before anything is said; where the contact has an active one on the medium, that is the answer. */
export const openConversation: Command<OpenConversation, Conversation> = {
  kind: "command",
  name: "conversations.open",
  input: () => openConversationSchema,
  status: 201,
  shows: showsOutput,
  async run(tx, { to, medium = "text" }, { scope, services }) {
    const actor: Actor = { scope, drawId: services.drawId };
    const known = await findRecipient(tx, scope, medium, to);
    const current = known && (await findConversation(tx, known));
    if (isActive(current)) return showConversation(tx, current);
    const identity = known ?? (await meetContact(tx, actor, services.secret, medium, to));
    return showConversation(tx, await beginConversation(tx, actor, identity, current));
  },
};
