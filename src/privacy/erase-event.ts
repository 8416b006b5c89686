import type { Contact, ContactReference } from "../contacts/index.ts";
import type { Conversation } from "../conversations/index.ts";
import type { MessageError } from "../messages/index.ts";
import type { EventMap } from "../webhooks/index.ts";
import type { EventType } from "../events/index.ts";

/** How each type of event is told of somebody who was erased: what happened and its ids stay, whom it happened to does not. */
const erasers: { readonly [T in EventType]: (data: EventMap[T]) => EventMap[T] } = {
  "message.received": (data) => ({ ...data, contact: nobody(data.contact), body: "", media: [] }),
  "message.sent": (data) => ({ ...data, contact: nobody(data.contact), to: "" }),
  "message.updated": (data) => ({ ...data, to: "", error: wordless(data.error) }),
  "message.failed": (data) => ({ ...data, to: "", error: wordless(data.error) }),
  "contact.created": ({ contact }) => ({ contact: emptied(contact) }),
  "contact.updated": ({ contact }) => ({ contact: emptied(contact) }),
  "contact.opted_out": (data) => ({ ...data, contact: nobody(data.contact), address: "" }),
  "contact.opted_in": (data) => ({ ...data, contact: nobody(data.contact), address: "" }),
  "conversation.created": ({ conversation }) => ({ conversation: anonymous(conversation) }),
  "conversation.updated": ({ conversation }) => ({ conversation: anonymous(conversation) }),
  "conversation.closed": ({ conversation }) => ({ conversation: anonymous(conversation) }),
  "conversation.handoff": (data) => ({
    ...data,
    contact: nobody(data.contact),
    reason: "",
    summary: "",
  }),
  "sentiment.changed": (data) => ({ ...data, contact: nobody(data.contact) }),
  "agent.run.completed": ({ run }) => ({ run: { ...run, steps: [], result: null } }),
  "webhook.disabled": (data) => data,
};

/** The data of an event without anything that is personal; still what its type says. */
export function erasedData({
  type,
  data,
}: {
  readonly type: EventType;
  readonly data: object;
}): object {
  // Only `appendEvent` writes events, and gives each the data of its type.
  const erase = erasers[type] as (before: object) => object;
  return erase(data);
}

function nobody({ id }: ContactReference): ContactReference {
  return { id, name: "", phone: null };
}

/** Carriers quote numbers, and the host's rules may say anything. */
function wordless(error: MessageError | null): MessageError | null {
  return error === null ? null : { ...error, message: "" };
}

function emptied(contact: Contact): Contact {
  const said = {
    name: null,
    phone: null,
    email: null,
    time_zone: null,
    language: null,
    sentiment: null,
  };
  return { ...contact, ...said, labels: [], attributes: {}, identities: [] };
}

function anonymous(conversation: Conversation): Conversation {
  const { contact, last_message } = conversation;
  const last = last_message === null ? null : { ...last_message, preview: "" };
  return {
    ...conversation,
    contact: nobody(contact),
    last_message: last,
    labels: [],
    metadata: {},
  };
}
