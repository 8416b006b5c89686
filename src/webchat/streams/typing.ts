import { identityByAddress } from "../../contacts/index.ts";
import { conversationById, currentConversation } from "../../conversations/index.ts";
import { follow, typingItem } from "../../events/index.ts";
import { byIdSchema, invalid, notFound, withId, type ById } from "../../kernel/index.ts";
import { personOf, type EventStream, type SignalOperation } from "../../operations/index.ts";
import { findSession } from "../sessions/sessions.ts";
import { readNames } from "./conversation-state.ts";
import {
  showTypingSchema,
  watchTypingSchema,
  type ShowTyping,
  type WatchTyping,
} from "./signal-types.ts";

/** Shows the visitor, and colleagues, that a person is typing. */
export const showTyping: SignalOperation<ShowTyping & ById> = {
  kind: "signal",
  name: "conversations.typing",
  input: () => withId(showTypingSchema, "The id of the conversation, which must be on webchat."),
  status: 204,
  async run(reads, { id, author_id }, { caller }) {
    const person = personOf(caller, author_id);
    const conversation = await reads.get(conversationById, [id]);
    if (conversation === undefined) throw notFound("conversation", id);
    const { id: conversation_id, contact_id, medium } = conversation;
    if (medium !== "webchat") {
      const message = `names a conversation on ${medium}. Only webchat shows who is typing`;
      throw invalid([{ parameter: "id", code: "not_webchat", message }]);
    }
    const author = { type: "human", ...(person === undefined ? {} : { id: person }) } as const;
    const nameOf = await readNames(reads, [author]);
    return { conversation_id, contact_id, author, author_name: nameOf(author) };
  },
};

/** Shows people that the visitor is typing, once there is a conversation. */
export const showVisitorTyping: SignalOperation<ById> = {
  kind: "signal",
  name: "webchat.typeAsVisitor",
  input: () => byIdSchema,
  status: 204,
  async run(reads, { id }, _call, now) {
    const { address } = await findSession(reads, id, now);
    const identity = await reads.get(identityByAddress, ["webchat", address]);
    if (identity === undefined) throw notFound("webchat session");
    const { contact_id } = identity;
    const conversation = await reads.get(currentConversation, [contact_id, "webchat"]);
    return (
      conversation && {
        conversation_id: conversation.id,
        contact_id,
        author: { type: "contact", id: contact_id },
        author_name: null,
      }
    );
  },
};

/**
 * Who is typing in the conversations of an account, in process. Over HTTP, event streams tell it.
 */
export const typingStream: EventStream<WatchTyping, never> = {
  kind: "stream",
  name: "conversations.watchTyping",
  input: () => watchTypingSchema,
  async open(sources, filter) {
    const place = await sources.join();
    const signals = sources.listen(filter, () => place.flag.raise());
    const next = () => Promise.resolve({ events: signals.take().map(typingItem), more: false });
    return follow({ ...sources, place, next, close: signals.leave });
  },
};
