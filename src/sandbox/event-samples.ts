import type { Contact, ContactReference } from "../contacts/index.ts";
import type { Conversation } from "../conversations/index.ts";
import type { EventType } from "../events/index.ts";
import { dayMs, iso, millis } from "../kernel/index.ts";
import type { EventMap } from "../webhooks/index.ts";

interface SampleOptions {
  /** The time of the event, in milliseconds since the epoch. */
  readonly now: number;
  /** The contact of the event. The default is a fictional contact. */
  readonly contact?: Contact;
}

/**
 * Returns complete, realistic data of an event of this type, to test a receiver. All ids except
 * those of a given contact are fictional.
 */
export function sampleData<T extends EventType>(
  type: T,
  { now, contact = sampleContact(now) }: SampleOptions,
): EventMap[T] {
  return samples[type]({ at: iso(now), contact, reference: referenceTo(contact) });
}

interface SampleFacts {
  readonly at: string;
  readonly contact: Contact;
  readonly reference: ContactReference;
}

const ulid = "01JSAMP1E00000000000000000";
const message_id = `msg_${ulid}` as const;
const conversation_id = `conv_${ulid}` as const;
const agent_id = `agt_${ulid}` as const;
const address = "+15005550001";

const samples: { readonly [T in EventType]: (facts: SampleFacts) => EventMap[T] } = {
  "message.received": ({ reference: contact }) => ({
    message_id,
    contact,
    body: "Hello! When do you open tomorrow?",
    channel: "sms",
    conversation_id,
    media: [],
  }),
  "message.sent": ({ at, reference: contact }) => ({
    message_id,
    contact,
    to: contact.phone ?? address,
    channel: "sms",
    status: "delivered",
    conversation_id,
    delivered_at: at,
  }),
  "message.updated": (facts) => ({
    ...outbound(facts),
    status: "sent",
    error: null,
    previous_status: "sending",
  }),
  "message.failed": (facts) => ({
    ...outbound(facts),
    status: "undelivered",
    error: {
      code: "unreachable",
      message: "The handset could not be reached.",
      permanent: false,
      stage: "handset",
      provider_code: null,
    },
  }),
  "message.redacted": ({ contact: { id: contact_id } }) => ({
    message_id,
    contact_id,
    conversation_id,
    channel: "sms",
  }),
  "contact.created": ({ contact }) => ({ contact }),
  "contact.updated": ({ contact }) => ({ contact }),
  "contact.erased": ({ contact: { id: contact_id } }) => ({ contact_id }),
  "contact.opted_out": consentChange,
  "contact.opted_in": consentChange,
  "conversation.created": (facts) => ({ conversation: conversation(facts) }),
  "conversation.updated": (facts) => ({
    conversation: { ...conversation(facts), priority: "high" },
  }),
  "conversation.closed": (facts) => ({
    conversation: { ...conversation(facts), status: "closed", closed_at: facts.at },
  }),
  "conversation.handoff": ({ reference: contact }) => ({
    conversation_id,
    contact,
    agent_id,
    reason: "Asked for a person.",
    rule: "customer_request",
    summary: "Wants to know when the shop opens tomorrow.",
    last_message_ids: [message_id],
    sentiment: { label: "neutral", score: 0 },
  }),
  "sentiment.changed": ({ reference: contact }) => ({
    contact,
    from: { label: "neutral", score: 0.05 },
    to: { label: "negative", score: -0.31 },
    message_id,
  }),
  "agent.run.awaiting_approval": ({ at, contact }) => ({
    run_id: `run_${ulid}`,
    agent_id,
    conversation_id,
    contact_id: contact.id,
    call_id: `run_${ulid}.1`,
    action: "issue_refund",
    approve_by: iso(millis(at) + dayMs),
  }),
  "agent.run.approval_decided": ({ contact }) => ({
    run_id: `run_${ulid}`,
    agent_id,
    conversation_id,
    contact_id: contact.id,
    call_id: `run_${ulid}.1`,
    action: "issue_refund",
    decision: "approve",
    author_id: "user_17",
    error: null,
  }),
  "agent.run.completed": ({ at }) => ({
    run: {
      id: `run_${ulid}`,
      agent_id,
      agent_version: 1,
      playbook_id: null,
      conversation_id,
      trigger: { type: "inbound", message_ids: [message_id] },
      status: "completed",
      steps: [],
      message_ids: [],
      result: null,
      approval: null,
      later_approvals: [],
      usage: { input_tokens: 0, output_tokens: 0, model_calls: 0 },
      created_at: at,
      finished_at: at,
    },
  }),
  "webhook.disabled": () => ({
    webhook_id: `wh_${ulid}`,
    url: "https://example.com/hooks",
    reason: "failing",
  }),
};

function outbound({ contact, reference }: SampleFacts) {
  const to = reference.phone ?? address;
  return { message_id, contact_id: contact.id, conversation_id, to, channel: "sms" } as const;
}

function consentChange({ reference: contact }: SampleFacts): EventMap["contact.opted_out"] {
  return {
    contact,
    medium: "text",
    address: contact.phone ?? address,
    sender: null,
    source: "keyword",
    message_id,
  };
}

function conversation({ at, reference: contact }: SampleFacts): Conversation {
  return {
    id: conversation_id,
    contact,
    medium: "text",
    status: "open",
    handler: "none",
    assignee: null,
    labels: [],
    priority: "normal",
    snoozed_until: null,
    unread_count: 1,
    waiting_since: at,
    last_message: {
      id: message_id,
      direction: "inbound",
      status: "received",
      preview: "",
      send_at: null,
      created_at: at,
      placed_at: at,
    },
    message_count: 1,
    opt_out_suspected: false,
    metadata: {},
    created_at: at,
    updated_at: at,
    closed_at: null,
  };
}

function sampleContact(now: number): Contact {
  return {
    id: `ct_${ulid}`,
    name: "Sam Sample",
    phone: address,
    email: null,
    time_zone: null,
    language: null,
    labels: [],
    attributes: {},
    identities: [{ medium: "text", address }],
    opted_out: false,
    sentiment: null,
    merged_into: null,
    created_at: iso(now),
    updated_at: iso(now),
    last_message_at: null,
  };
}

function referenceTo({ id, name, phone, identities }: Contact): ContactReference {
  return { id, name: name ?? phone ?? identities[0]?.address ?? "", phone };
}
