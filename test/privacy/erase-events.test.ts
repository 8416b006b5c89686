/** What an erasure leaves of the events about the contact. */
import { expect, it } from "vitest";
import { eventTypes, type EventType } from "../../src/events/types.ts";
import { erasedData } from "../../src/privacy/erase-events.ts";
import { eventDefinitionOf } from "../../src/webhooks/event-catalog.ts";

const id = (prefix: string): string => `${prefix}_01JZZZZZZZZZZZZZZZZZZZZZZZ`;
const at = "2026-01-01T00:00:00.000Z";
const secret = "sesame";
const reference = { id: id("ct"), name: secret, phone: secret };
const state = {
  message_id: id("msg"),
  contact_id: id("ct"),
  conversation_id: id("conv"),
  to: secret,
  channel: "sms",
};
const contact = {
  ...reference,
  email: secret,
  time_zone: secret,
  language: secret,
  labels: [secret],
  attributes: { a: secret },
  identities: [
    {
      medium: "text",
      address: secret,
    },
  ],
  opted_out: true,
  sentiment: {
    label: "neutral",
    score: 0,
  },
  merged_into: null,
  created_at: at,
  updated_at: at,
  last_message_at: at,
};
const conversation = {
  id: id("conv"),
  contact: reference,
  medium: "text",
  status: "open",
  handler: "none",
  assignee: null,
  labels: [secret],
  priority: "normal",
  snoozed_until: null,
  unread_count: 1,
  message_count: 1,
  waiting_since: null,
  last_message: {
    id: id("msg"),
    direction: "inbound",
    status: "received",
    preview: secret,
    send_at: null,
    created_at: at,
    placed_at: at,
  },
  opt_out_suspected: false,
  metadata: { a: secret },
  created_at: at,
  updated_at: at,
  closed_at: null,
};
const consent = {
  contact: reference,
  medium: "text",
  address: secret,
  sender: null,
  source: "keyword",
  message_id: id("msg"),
};
const run = {
  id: id("run"),
  agent_id: id("agt"),
  agent_version: 1,
  playbook_id: null,
  conversation_id: id("conv"),
  trigger: {
    type: "inbound",
    message_ids: [id("msg")],
  },
  message_ids: [id("msg")],
  status: "completed",
  steps: [
    {
      type: "send",
      name: null,
      input: secret,
      output: [secret],
      error: secret,
      started_at: at,
      duration_ms: 1,
    },
  ],
  approval: null,
  later_approvals: [],
  result: { said: secret },
  usage: {
    input_tokens: 1,
    output_tokens: 1,
    model_calls: 1,
  },
  created_at: at,
  finished_at: at,
};
const sentiment = { label: "neutral", score: 0 };
const told: Readonly<Record<EventType, object>> = {
  "message.received": {
    message_id: id("msg"),
    contact: reference,
    body: secret,
    channel: "mms",
    conversation_id: id("conv"),
    media: [{ url: `https://example.org/${secret}` }],
  },
  "message.sent": {
    message_id: id("msg"),
    contact: reference,
    to: secret,
    channel: "sms",
    status: "delivered",
    conversation_id: id("conv"),
    delivered_at: at,
  },
  "message.updated": { ...state, status: "sent", error: null, previous_status: "sending" },
  "message.failed": { ...state, status: "expired", error: null },
  "message.redacted": {
    message_id: id("msg"),
    contact_id: id("ct"),
    conversation_id: id("conv"),
    channel: "sms",
  },
  "contact.created": { contact },
  "contact.updated": { contact },
  "contact.erased": { contact_id: id("ct") },
  "contact.opted_out": consent,
  "contact.opted_in": consent,
  "conversation.created": { conversation },
  "conversation.updated": { conversation },
  "conversation.closed": { conversation },
  "conversation.handoff": {
    conversation_id: id("conv"),
    contact: reference,
    agent_id: null,
    reason: secret,
    rule: null,
    summary: secret,
    last_message_ids: [id("msg")],
    sentiment,
  },
  "sentiment.changed": {
    contact: reference,
    from: sentiment,
    to: sentiment,
    message_id: id("msg"),
  },
  "agent.run.awaiting_approval": {
    run_id: id("run"),
    agent_id: id("agt"),
    conversation_id: id("conv"),
    contact_id: id("ct"),
    call_id: `${id("run")}.1`,
    action: "pay_out",
    approve_by: at,
  },
  "agent.run.approval_decided": {
    run_id: id("run"),
    agent_id: id("agt"),
    conversation_id: id("conv"),
    contact_id: id("ct"),
    call_id: `${id("run")}.1`,
    action: "pay_out",
    decision: "deny",
    author_id: null,
    error: "approval_timeout",
  },
  "agent.run.completed": { run },
  "webhook.disabled": { webhook_id: id("wh"), url: "https://example.org", reason: "gone" },
};

it.each(eventTypes)(
  "%s about an erased contact keeps its ids and shape, without personal data",
  (type) => {
    const data = told[type];
    expect(eventDefinitionOf(type).data.safeParse(data).error).toBeUndefined();
    const erased = erasedData({ type, data });
    expect(eventDefinitionOf(type).data.safeParse(erased).error).toBeUndefined();
    expect(JSON.stringify(erased)).not.toContain(secret);
    const idsIn = (each: object): string[] =>
      (JSON.stringify(each).match(/[a-z]+_01J\w+/g) ?? []).toSorted();
    expect(idsIn(erased)).toEqual(
      idsIn({ ...data, ...(type === "agent.run.completed" ? { run: { ...run, steps: [] } } : {}) }),
    );
  },
);
