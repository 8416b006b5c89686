import { eventDefinitionOf } from "../../src/webhooks/event-catalog.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isLanguage,
  type MergeFacts,
  mergedFacts,
  maxLabels,
  conversationToKeep,
} from "../../src/contacts/rules.ts";
import { erasedData } from "../../src/privacy/erase-events.ts";
import { type EventType, eventTypes } from "../../src/events/types.ts";
import { isTimeZone } from "../../src/kernel/time.ts";

const word = fc.stringMatching(/^[a-z]{3,8}$/);
const facts: fc.Arbitrary<MergeFacts> = fc.record({
  name: fc.option(word),
  phone: fc.option(word),
  email: fc.option(word),
  time_zone: fc.option(word),
  language: fc.option(word),
  labels: fc.uniqueArray(word, { maxLength: maxLabels, size: "max" }),
  // Few names, so that two contacts often have the same.
  attributes: fc.dictionary(fc.stringMatching(/^[a-h]$/), word, { maxKeys: 5 }),
  sentiment_state: fc.option(
    fc.record({
      label: fc.constant("neutral" as const),
      mean: fc.constant(0),
      messages: fc.nat(3),
    }),
  ),
  last_message_at: fc.option(fc.nat(1_000)),
});

describe("two merged contacts", () => {
  it("keep all fields of the survivor, and those of the other up to the limits", () => {
    fc.assert(
      fc.property(facts, facts, (survivor, other) => {
        const merged = mergedFacts(survivor, other, 5);
        for (const name of ["name", "phone", "email", "time_zone", "language"] as const) {
          expect(
            merged[name],
            `The field ${name} is the survivor's, or the other's if the survivor has none.`,
          ).toBe(survivor[name] ?? other[name]);
        }
        expect(merged.labels.slice(0, survivor.labels.length)).toEqual(survivor.labels);
        expect(merged.labels.length, `The labels of both are kept, up to ${maxLabels}.`).toBe(
          Math.min(maxLabels, new Set([...survivor.labels, ...other.labels]).size),
        );
        expect(merged.attributes).toMatchObject(survivor.attributes);
        expect(
          Object.keys(merged.attributes).length,
          "The attributes of both are kept, up to 5.",
        ).toBe(Math.min(5, Object.keys({ ...survivor.attributes, ...other.attributes }).length));
        expect({ ...other.attributes, ...survivor.attributes }).toMatchObject(merged.attributes);
        const heard = (each: MergeFacts): number => each.sentiment_state?.messages ?? 0;
        const lead = heard(other) > heard(survivor) ? other : survivor;
        expect(
          merged.sentiment_state,
          "The sentiment is that of the contact with more messages.",
        ).toBe(lead.sentiment_state);
        const times = [survivor.last_message_at, other.last_message_at].filter(
          (each) => each !== null,
        );
        expect(merged.last_message_at, "The last message is the later one of both.").toBe(
          times.length === 0 ? null : Math.max(...times),
        );
      }),
    );
  });

  it("keep the survivor's conversation if both are active, else the most recently active one", () => {
    const [open, closed] = [
      { isActive: true, last_activity_at: 1 },
      { isActive: false, last_activity_at: 2 },
    ];
    expect(conversationToKeep(open, { ...open, last_activity_at: 9 })).toBe("survivors");
    expect(conversationToKeep(open, { ...closed, last_activity_at: 9 })).toBe("survivors");
    expect(conversationToKeep(closed, open)).toBe("others");
    expect(conversationToKeep(closed, { ...closed, last_activity_at: 3 })).toBe("others");
    expect(conversationToKeep(closed, closed)).toBe("survivors");
  });
});

it("a time zone must be known to the runtime, a language must be a well-formed tag", () => {
  for (const zone of Intl.supportedValuesOf("timeZone")) {
    expect([zone, isTimeZone(zone)]).toEqual([zone, true]);
  }
  for (const zone of ["US/Pacific", "EST", "PST8PDT", "europe/berlin"]) {
    expect([zone, isTimeZone(zone)]).toEqual([zone, true]);
  }
  for (const none of ["", "+01:00", "Europe", "Mars/Olympus", "Europe/Berlin "]) {
    expect(isTimeZone(none)).toBe(false);
  }
  // No IANA names. The runtime knows them all the same: PST as Los Angeles, but BST as Dhaka.
  for (const none of ["PST", "CST", "BST", "IST", "JST", "pst"]) {
    expect([none, isTimeZone(none)]).toEqual([none, false]);
  }
  for (const tag of ["de", "pt-BR", "zh-Hant-TW", "x-private"]) {
    expect(isLanguage(tag)).toBe(tag !== "x-private");
  }
  for (const none of ["", "e", "en_US", "de-"]) expect(isLanguage(none)).toBe(false);
});

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
    created_at: at,
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
