import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { eventTypes } from "../../src/events/types.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import {
  listMessagesSchema,
  sendMessageSchema,
  type SendMessage,
} from "../../src/messages/input-types.ts";
import { anyCharacter } from "../support/any-character.ts";
import { world } from "../support/engines/world.ts";
import { longTest } from "../support/runs.ts";

const schema = sendMessageSchema(defaultLimits);
const to = "+15005550001";

const wrong = (input: unknown): string[] =>
  (schema.safeParse(input).error?.issues ?? []).map(({ path, code }) =>
    path.length > 0 ? path.join(".") : code,
  );

describe("the input of a send", () => {
  it("accepts any storable text up to 1,600 characters, regardless of code units", () => {
    const storable = fc
      .string({ unit: anyCharacter, minLength: 1, maxLength: 1_600 })
      .filter((text) => !text.includes("\0"));
    fc.assert(
      fc.property(storable, (body) => {
        expect(wrong({ to, body })).toEqual([]);
      }),
      { numRuns: 20 },
    );
    expect(wrong({ to, body: "😀".repeat(1_600) })).toEqual([]);
    expect(wrong({ to, body: "😀".repeat(1_601) })).toEqual(["body"]);
    expect(wrong({ to, body: "a".repeat(1_601) })).toEqual(["body"]);
  });

  it.each([
    ["NUL", { to, body: "a\0b" }, ["body"]],
    ["half a surrogate pair", { to, body: "a\ud800b" }, ["body"]],
    ["an empty body without media", { to, body: "" }, ["body"]],
    [
      "media on sms",
      { to, body: "", channel: "sms", media: [{ url: "https://a.example/b" }] },
      ["media"],
    ],
    [
      "media that is not http",
      { to, body: "", media: [{ url: "file:///etc/passwd" }] },
      ["media.0.url"],
    ],
    ["a phone number on webchat", { to, body: "a", channel: "webchat" }, ["to"]],
    ["an unknown field", { to, body: "a", colour: "red" }, ["unrecognized_keys"]],
    [
      "__proto__ as a field",
      JSON.parse(`{"to":"${to}","body":"a","__proto__":{"x":1}}`),
      ["unrecognized_keys"],
    ],
    [
      "__proto__ in metadata",
      JSON.parse(`{"to":"${to}","body":"a","metadata":{"__proto__":"x"}}`),
      ["metadata.__proto__"],
    ],
    ["metadata that is not text", { to, body: "a", metadata: { a: 1 } }, ["metadata.a"]],
    [
      "more metadata than it checks",
      { to, body: "a", metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, n])) },
      ["metadata"],
    ],
    ["a date without a time zone", { to, body: "a", send_at: "2026-01-01T00:00:00" }, ["send_at"]],
    ["a day that does not exist", { to, body: "a", send_at: "2026-02-30T00:00:00Z" }, ["send_at"]],
    ["a ttl of zero", { to, body: "a", ttl_seconds: 0 }, ["ttl_seconds"]],
    ["a fractional ttl", { to, body: "a", ttl_seconds: 0.5 }, ["ttl_seconds"]],
  ])("rejects %s", (_name, input, where) => {
    expect(wrong(input)).toEqual(where);
  });

  it("leaves out metadata that is undefined, as JSON does", async () => {
    const metadata = { order: "17", table: undefined };
    const input = { to, body: "a", metadata: metadata as { order: string } };
    const one = world().engine(memory());
    const sent = await one.messages.send(input, { idempotencyKey: "k" });
    expect(sent.metadata).toEqual({ order: "17" });
    const again = { ...input, metadata: { order: "17" } };
    expect(await one.messages.send(again, { idempotencyKey: "k" })).toEqual(sent);
    expect(wrong({ to, body: "a", metadata: [undefined] })).toEqual(["metadata"]);
  });

  it.each<[given: unknown, got: string]>([
    ["tomorrow", '"tomorrow"'],
    ["2026-01-31 09:00", '"2026-01-31 09:00"'],
    ["😀".repeat(100), `"${"😀".repeat(39)}…"`],
    [1_769_850_000_000, "1769850000000"],
    [new Date(0), "a Date"],
  ])("says what time it expects, with an example, instead of %s", (send_at, got) => {
    const { error } = schema.safeParse({ to, body: "a", send_at });
    expect(error?.issues.map(({ message }) => message)).toEqual([
      `must be a time with seconds and Z or an offset, such as "2026-01-31T09:00:00Z", got ${got}`,
    ]);
  });

  it("accepts media without a body, on mms or by default", () => {
    const media = [{ url: "https://a.example/b.png", content_type: "image/png" }];
    expect(wrong({ to, body: "", media })).toEqual([]);
    expect(wrong({ to, body: "", media, channel: "mms" })).toEqual([]);
    expect(
      wrong({ to: "ct_01J00000000000000000000000", body: "", media, channel: "webchat" }),
    ).toEqual([]);
  });

  it("accepts only phone numbers of 7 to 15 digits that do not begin with 0", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\+?[0-9]{0,18}$/), (phone) => {
        expect(
          wrong({ to: phone, body: "a" }).length === 0,
          "A recipient is valid exactly if it is a phone number in E.164.",
        ).toBe(/^\+[1-9][0-9]{6,14}$/.test(phone));
      }),
    );
    expect(wrong({ to: `${to}\n`, body: "a" })).toEqual(["to"]);
  });

  it("reports all errors at once, also those of rules over two fields", () => {
    const input = {
      to: "x",
      body: "",
      channel: "fax",
      from: "",
      ttl_seconds: "1",
      category: "spam",
      extra: 1,
    };
    expect(wrong(input).toSorted((a, b) => a.localeCompare(b))).toEqual([
      "body",
      "category",
      "channel",
      "from",
      "to",
      "ttl_seconds",
      "unrecognized_keys",
    ]);
  });

  it("applies the host application's limits, narrower or wider than the defaults", () => {
    const narrow = sendMessageSchema({
      ...defaultLimits,
      messageCharacters: 5,
      metadataKeys: 1,
      metadataCharacters: 2,
    });
    const wide = sendMessageSchema({
      ...defaultLimits,
      messageCharacters: 5_000,
      metadataKeys: 60,
    });
    expect(narrow.safeParse({ to, body: "123456" }).success).toBe(false);
    expect(narrow.safeParse({ to, body: "1", metadata: { a: "1", b: "2" } }).success).toBe(false);
    expect(narrow.safeParse({ to, body: "1", metadata: { a: "123" } }).success).toBe(false);
    expect(wide.safeParse({ to, body: "1".repeat(5_000) }).success).toBe(true);
    const document = z.toJSONSchema(narrow, { io: "input" });
    expect(JSON.stringify(document)).toContain('"maxLength":5');
  });

  it("never throws for any input", () => {
    const near = fc.record(
      {
        to: fc.anything(),
        body: fc.anything(),
        media: fc.anything(),
        channel: fc.anything(),
        metadata: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), near), (input) => {
        expect(typeof schema.safeParse(input).success, "Every input is accepted or refused.").toBe(
          "boolean",
        );
      }),
    );
  });
});

describe("the filters of a list", () => {
  it("read numbers from query strings, and reject other text", () => {
    expect(listMessagesSchema.parse({ limit: "7" })).toEqual({ limit: 7 });
    expect(listMessagesSchema.parse({ limit: 7 })).toEqual({ limit: 7 });
    for (const limit of ["0", "101", "", " 7", "7.5", "1e1", true, null, "-1", 0, Number.NaN, []]) {
      expect(listMessagesSchema.safeParse({ limit }).success).toBe(false);
    }
  });
});

describe("the event types", () => {
  it("are the specification's five and the engine's own", () => {
    expect(eventTypes.toSorted((a, b) => a.localeCompare(b))).toEqual([
      "agent.run.approval_decided",
      "agent.run.awaiting_approval",
      "agent.run.completed",
      "contact.created",
      "contact.erased",
      "contact.opted_in",
      "contact.opted_out",
      "contact.updated",
      "conversation.closed",
      "conversation.created",
      "conversation.handoff",
      "conversation.updated",
      "message.failed",
      "message.received",
      "message.redacted",
      "message.sent",
      "message.updated",
      "sentiment.changed",
      "webhook.disabled",
    ]);
  });
});

it.each([
  [1, "must have at most 1 item, got 2"],
  [2, "must have at most 2 items, got 3"],
])("a send, an edit and a reply with more than %d files get the same error", async (max, error) => {
  const one = world().engine(memory(), { limits: { mediaItems: max } });
  const send_at = "2026-01-02T00:00:00Z";
  const { id, conversation_id } = await one.messages.send({ to, body: "Hi", send_at });
  const media = Array.from({ length: max + 1 }, () => ({ url: "https://a.example/b" }));
  const errors = [{ pointer: "/media", code: "too_big", message: error }];
  await expect(one.messages.send({ to, body: "", media })).rejects.toMatchObject({ errors });
  await expect(one.messages.edit(id, { media })).rejects.toMatchObject({ errors });
  await expect(one.conversations.reply(conversation_id, { body: "", media })).rejects.toMatchObject(
    { errors },
  );
});

const words = (count: number): string[] => Array.from({ length: count }, (_, i) => `word${i}`);

it.each<[string, string, (one: MessagingEngine) => Promise<unknown>]>([
  [
    "/messages",
    "must have at most 1000 items, got 1001",
    ({ messages }) => messages.batch({ messages: words(1_001).map((body) => ({ to, body })) }),
  ],
  [
    "/labels",
    "must have at most 50 items, got 51",
    ({ contacts }) => contacts.create({ name: "Ann", labels: words(51) }),
  ],
  [
    "/trigger/keywords",
    "must have at most 50 items, got 51",
    ({ playbooks }) =>
      playbooks.create({ name: "Book", steps: [], trigger: { keywords: words(51) } }),
  ],
])("%s that is too long is refused with its length", async (pointer, message, call) => {
  await expect(call(world().engine(memory()))).rejects.toMatchObject({
    errors: [{ pointer, code: "too_big", message }],
  });
});

describe("an item of a batch that is no JSON", () => {
  const circle: { to: string; body?: unknown } = { to: "+15005550001" };
  circle.body = circle;

  it.each([
    ["with an idempotency key", { idempotencyKey: "k" }],
    ["without one", {}],
  ])("is refused alone, %s", async (_, options) => {
    const one = world().engine(memory());
    const hello = { to: "+15005550001", body: "Hello" };
    const messages = [hello, { ...hello, body: 5n }, circle] as SendMessage[];
    for (const repeated of ["the first time", "again"]) {
      const { data } = await one.messages.batch({ messages }, options);
      expect(
        data.map((each) => (each.ok ? "sent" : each.code)),
        repeated,
      ).toEqual(["sent", "validation_failed", "validation_failed"]);
    }
  });
});

longTest("an engine takes batches as large as the host application allows", async () => {
  const one = world().engine(memory(), { limits: { batchItems: 200_000 } });
  // More items than a function can take as arguments. None of them is valid.
  const none = { to: "nobody", body: "Hi" };
  const { data } = await one.messages.batch({
    messages: Array.from({ length: 130_000 }, () => none),
  });
  expect(data).toHaveLength(130_000);
});
