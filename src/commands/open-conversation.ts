import {
  type Conversation,
  type OpenConversation,
  openConversationSchema,
} from "../domain/conversations/types.ts";
import type { Command } from "../operation.ts";
import type { Actor } from "./steps/append-event.ts";
import { meetContact } from "./steps/find-contact.ts";
import { findRecipient } from "./steps/find-recipient.ts";
import { beginConversation, findConversation, isActive } from "./steps/open-conversation.ts";
import { showConversation } from "./steps/show-conversation.ts";

/** Begins a conversation before anything is said; where the contact has an active one on the medium, that is the answer. */
export const openConversation: Command<OpenConversation, Conversation> = {
  kind: "command",
  name: "conversations.open",
  input: () => openConversationSchema,
  status: 201,
  async run(tx, { to, medium = "text" }, { scope, services }) {
    const actor: Actor = { scope, drawId: services.drawId };
    const known = await findRecipient(tx, scope, medium, to);
    const current = known && (await findConversation(tx, known));
    if (isActive(current)) return showConversation(tx, current);
    const identity = known ?? (await meetContact(tx, actor, services.secret, medium, to));
    return showConversation(tx, await beginConversation(tx, actor, identity, current));
  },
};
