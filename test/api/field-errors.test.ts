/** The errors of wrong fields and parameters, over HTTP and in process. */
import { beforeEach, describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { world } from "../support/engines/world.ts";
import { call, jsonOf } from "./call.ts";

const hello = { to: "+15005550001", body: "Hello" };

let engine: MessagingEngine;
let key: string;
beforeEach(async () => {
  engine = world().engine(memory());
  key = (await engine.apiKeys.create({ name: "tests" })).secret ?? expect.fail();
});

describe("a wrong parameter", () => {
  it.each([
    ["messages?limit=abc", 'must be a number, got "abc"'],
    ["messages?limit=", 'must be a number, got ""'],
    ["messages?limit=99999999999999999999", "must be 100 or less, got 100000000000000000000"],
    ["messages?foo=1", /^Unknown parameter "foo"\. Other parameters: limit, cursor, /],
    ["events?types=message.sent", 'Unknown parameter "types". Did you mean "type"?'],
    ["messages?status=queued,sent", /, got "queued,sent"/],
    ["messages?status=queued&status=sent", "must be given once, got it 2 times"],
    ["messages?to=%2B15005550001&to=%2B15005550002", "must be given once, got it 2 times"],
    ["events/stream?types=message.sent&types=message.failed", "must be given once, got it 2 times"],
    ["messages?foo=1&foo=2", /^Unknown parameter "foo"/],
    [
      "events/stream?types=message.sent,%20message.failed",
      'must be an event type, got " message.failed". Did you mean "message.failed"?',
    ],
    ["events/stream?types=message.sent,,", /^must be an event type, got ""/],
    ["events/stream?last_event_id=foo", 'must be the id of an event, got "foo"'],
    ["events/stream?last_event_id=evt_01JZZZZZZZZZZZZZZZZZZZZZZZ", /no longer kept/],
    [
      "contacts?phone=+15005550001",
      "must be a phone number: + and 7 to 15 digits (E.164). Send a plus sign as %2B",
    ],
    ["messages?to=+15005550001", /\. Send a plus sign as %2B$/],
    [
      "messages?created_after=2026-01-31T09:00:00+02:00",
      /got "2026-01-31T09:00:00 02:00"\. Send a plus sign as %2B$/,
    ],
    ["usage?from=2026-02-01&to=2026-01-01", "must not be after to"],
    ["usage/hours?from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "must not be after to"],
  ])("shows what came and what to send: %s", async (path, message) => {
    const answer = jsonOf(await call(engine.api, { path: `/v1/${path}`, key }));
    const text: unknown = typeof message === "string" ? message : expect.stringMatching(message);
    expect(answer).toMatchObject({ code: "validation_failed", errors: [{ message: text }] });
    expect(answer).toHaveProperty("errors.length", 1);
  });
});

it("a wrong cursor is one error, however it is wrong", async () => {
  for (const cursor of ["", "zzz", "z".repeat(2_000)]) {
    const answer = await call(engine.api, { path: `/v1/messages?cursor=${cursor}`, key });
    expect(jsonOf(answer)).toMatchObject({ status: 400, code: "invalid_cursor" });
  }
});

describe("a wrong body", () => {
  const body = (extra: string): string => `{"to":"${hello.to}","body":"Hello",${extra}}`;
  it.each<[name: string, raw: string | Uint8Array, detail: string]>([
    ["no JSON", '{"to":', "The body is not valid JSON."],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]), "The body is not valid UTF-8."],
    [
      "too deep",
      body(`"metadata":${'{"a":'.repeat(40)}1${"}".repeat(40)}`),
      `metadata/${"a/".repeat(30)}a: is nested too deeply: at most 32 levels of objects and lists`,
    ],
    [
      "too many keys",
      body(`"metadata":{${Array.from({ length: 51 }, (_, i) => `"k${i}":"v"`).join()}}`),
      "metadata: must have at most 50 keys, got 51",
    ],
  ])("is told what is wrong and what the limit is: %s", async (_name, raw, detail) => {
    const answer = await call(engine.api, { method: "POST", path: "/v1/messages", key, raw });
    expect(jsonOf(answer)).toMatchObject({ detail });
  });
});

describe("a wrong idempotency key", () => {
  it.each<[sent: unknown, got: string]>([
    ["order 17", "a space at character 6"],
    ["caf\u00e9", "U+00E9 at character 4"],
    ["", "0 characters"],
    ["k".repeat(256), "256 characters"],
    [17, "17"],
  ])("is described, but not repeated: %j", async (sent, got) => {
    const valid = "1 to 255 visible ASCII characters, without spaces";
    const body = { ...hello, idempotency_key: sent };
    const answer = await call(engine.api, { method: "POST", path: "/v1/messages", key, body });
    expect(jsonOf(answer)).toMatchObject({
      detail: `An idempotency key is ${valid}. Got ${got}.`,
      errors: [{ pointer: "/idempotency_key" }],
    });
    await expect(engine.messages.send(hello, { idempotencyKey: sent as string })).rejects.toThrow(
      `idempotencyKey: must be a string of ${valid}, got ${got}`,
    );
  });

  it("in a header can have wrong quotes", async () => {
    const headers = ["Idempotency-Key", '"open'];
    const post = { method: "POST", path: "/v1/messages", key, headers, body: hello };
    expect(jsonOf(await call(engine.api, post))["detail"]).toMatch(
      / Got a quoted text that is empty or not complete\.$/,
    );
  });
});

it("the errors of a request are at most 100, whatever is wrong", async () => {
  const wrong = [
    { to: hello.to, body: "x", metadata: { a: Array.from({ length: 300 }, () => "PROTO") } },
    Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`field_${i}`, 1])),
  ];
  for (const body of wrong) {
    const raw = JSON.stringify(body).replaceAll('"PROTO"', '{"__proto__":1}');
    const answer = await call(engine.api, { method: "POST", path: "/v1/messages", key, raw });
    expect(jsonOf(answer)).toHaveProperty("errors.length", 100);
  }
  const query = Array.from({ length: 300 }, (_, i) => `p${i}=1`).join("&");
  const queries = [
    call(engine.api, { method: "POST", path: `/v1/messages?${query}`, key, body: hello }),
    call(engine.api, {
      method: "POST",
      path: `/v1/contacts/import?${query}`,
      key,
      headers: ["Content-Type", "application/x-ndjson"],
    }),
  ];
  for (const answer of await Promise.all(queries)) {
    expect(jsonOf(answer)).toHaveProperty("errors.length", 100);
  }
});

it("the errors of a path come before those of other fields", async () => {
  const put = { method: "PUT", path: "/v1/operators/..", key, body: { name: 1 } };
  const { errors } = jsonOf(await call(engine.api, put));
  expect(errors).toMatchObject([{ parameter: "id" }, { pointer: "/name" }]);

  const approval = engine.agents.approve("", "", { decision: "approve", author_id: "" });
  const wrong = [{ pointer: "/id" }, { pointer: "/run_id" }, { pointer: "/author_id" }];
  await expect(approval).rejects.toMatchObject({ errors: wrong });
});

it("the errors of a request name no field that the request does not have", async () => {
  const { contact_id, conversation_id } = await engine.sandbox.inbound({
    from: hello.to,
    body: "Hi",
  });
  await engine.contacts.setConsent(contact_id, "text", { status: "opted_out" });
  const post = async (path: string, body: object): Promise<unknown> =>
    jsonOf(await call(engine.api, { method: "POST", path, key, body }))["errors"];
  expect(await post("/v1/messages", hello)).toMatchObject([{ pointer: "/to" }]);
  const path = `/v1/conversations/${conversation_id}/messages`;
  expect(await post(path, { body: "Hello" })).toMatchObject([
    { pointer: "", code: "recipient_opted_out" },
  ]);
});

describe("a wrong input in process", () => {
  it.each<[name: string, run: () => Promise<unknown>, message: string | RegExp]>([
    [
      "none",
      () => engine.messages.send(undefined as never),
      "input: Required. It must be an object.",
    ],
    [
      "a string after the id",
      () => engine.conversations.handOff("conv_1", "I cannot help" as never),
      "input: must be an object, got a string",
    ],
    [
      "a string after the id and the medium",
      () => engine.contacts.setConsent("ct_1", "text", "opted_out" as never),
      "input: must be an object, got a string",
    ],
    [
      "a string after the ids of an agent and a run",
      () => engine.agents.approve("agt_1", "run_1", "approve" as never),
      "input: must be an object, got a string",
    ],
    [
      "a string after the id of a signal",
      () => engine.conversations.typing("conv_1", "kim" as never),
      "input: must be an object, got a string",
    ],
    [
      "a string after the id of a stream",
      () => engine.webchat.stream("wcs_1", "wm_1" as never),
      "input: must be an object, got a string",
    ],
    [
      "a list after the id",
      () => engine.contacts.messages("ct_1", ["queued"] as never),
      "input: must be an object, got a list of 1",
    ],
    [
      "a field of another API",
      () => engine.messages.preview({ to: hello.to, text: "Hello" } as never),
      /^body: Required\. .*; text: Unknown field "text"\. Other fields: body, channel, /,
    ],
    [
      "a trigger of nothing for nobody",
      () => engine.agents.trigger("agt_1", {}),
      "contact_id: give exactly one of contact_id and conversation_id; " +
        "playbook_id: give exactly one of playbook_id and action",
    ],
    [
      "a string for an object",
      () => engine.messages.list("queued" as never),
      "input: must be an object, got a string",
    ],
    [
      "a time that is too far ahead",
      () => engine.messages.send({ ...hello, send_at: "2999-01-01T00:00:00Z" }),
      "send_at: must be at most 35 days ahead",
    ],
    [
      "a number that is too large",
      () => engine.messages.send({ ...hello, ttl_seconds: 1e20 }),
      "ttl_seconds: must be 3024000 or less, got 100000000000000000000",
    ],
    [
      "an idempotency key in the input",
      () => engine.messages.send({ ...hello, idempotency_key: "k" } as never),
      /^idempotency_key: .* Pass \{ idempotencyKey \} as the last argument\.$/,
    ],
    [
      "a transaction in the input",
      () => engine.messages.send({ ...hello, tx: {} } as never),
      /^tx: .* Pass \{ tx \} as the last argument\.$/,
    ],
    [
      "a transaction in the input of a batch, which cannot join one",
      () => engine.messages.batch({ messages: [hello], tx: {} } as never),
      /^tx: .* Remove it\.$/,
    ],
    [
      "an idempotency key in the input of a preview, which has none",
      () => engine.messages.preview({ ...hello, idempotency_key: "k" } as never),
      /^idempotency_key: Unknown field "idempotency_key"\. Other fields: /,
    ],
    [
      "an idempotency key in the input of a query, which has none",
      () => engine.messages.list({ idempotency_key: "k" } as never),
      /^idempotency_key: Unknown field "idempotency_key"\. Other fields: /,
    ],
  ])("is named: %s", async (_, run, message) => {
    const text: unknown = typeof message === "string" ? message : expect.stringMatching(message);
    await expect(run()).rejects.toMatchObject({ code: "validation_failed", message: text });
  });

  it("has a pointer, also where HTTP has a parameter", async () => {
    const { id } = await engine.contacts.create({ phone: "+15005550002" });
    const set = (medium: string): Promise<unknown> =>
      engine.contacts.setConsent(id, medium as "text", { status: "opted_out" });
    await expect(set("sms")).rejects.toMatchObject({ errors: [{ pointer: "/medium" }] });
    await expect(set("webchat")).rejects.toMatchObject({ errors: [{ pointer: "/medium" }] });
    const answer = await call(engine.api, {
      method: "PUT",
      path: `/v1/contacts/${id}/consents/webchat`,
      key,
      body: { status: "opted_out" },
    });
    expect(jsonOf(answer)).toMatchObject({ errors: [{ parameter: "medium", code: "no_address" }] });
  });
});
