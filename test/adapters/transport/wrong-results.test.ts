/** Transports with mistakes: what they return is checked before anything of it is used. */
import { describe, expect, it } from "vitest";
import { nodeHandler } from "../../../adapters/http/node.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type {
  InboundMessage,
  LookupAnswer,
  Media,
  Receipt,
  ReceiptSubject,
  SendAnswer,
  Transport,
} from "../../../src/ports/transport.ts";
import { carrier, held, lost, type Script } from "../../support/engines/carrier.ts";
import { world } from "../../support/engines/world.ts";
import { listening } from "../../support/listening.ts";

const hello = { to: "+15005550001", body: "Hello" };
const error = { code: "throttled", message: "Too many messages." };
const inbound: InboundMessage = {
  provider_message_id: "in-1",
  channel: "sms",
  from: "+15005550007",
  to: "+15005559999",
  body: "Hi",
  media: [],
  at: 0,
};

/** An engine that has handed one message to a carrier. */
async function sent(script: Script = {}) {
  const { clock, started, log } = world();
  const acme = carrier(script);
  const one = await started(memory(), { transports: [acme] });
  const { id } = await one.messages.send(hello);
  await clock.advance(1_000);
  return { acme, clock, one, id, log };
}

describe("an answer of send of a wrong form counts as lost, and the log names the mistake", () => {
  const isOutcome = 'outcome: expected "accepted", "rejected" or "ambiguous"';
  const isId = "provider_message_id: expected a string of 1 to 500 characters";
  it.each<[string, unknown, string]>([
    ["none", undefined, `${isOutcome}, got undefined`],
    ["a misspelled outcome", { outcome: "acepted" }, `${isOutcome}, got "acepted"`],
    ["a text as the outcome", { outcome: "+15005550001: Hi" }, `${isOutcome}, got a string`],
    ["a number as the outcome", { outcome: "15005550001" }, `${isOutcome}, got a string`],
    ["accepted without an id", { outcome: "accepted" }, `${isId}, got undefined`],
    [
      "accepted with a number",
      { outcome: "accepted", provider_message_id: 15005550001 },
      `${isId}, got a number`,
    ],
    [
      "accepted with an endless id",
      { outcome: "accepted", provider_message_id: "x".repeat(501) },
      `${isId}, got a string of 501 characters`,
    ],
    [
      "accepted with an empty id",
      { outcome: "accepted", provider_message_id: "" },
      `${isId}, got a string of 0 characters`,
    ],
    [
      "accepted with an id that databases reject",
      { outcome: "accepted", provider_message_id: "p\0" },
      `${isId}, got a string with a NUL character`,
    ],
    [
      "accepted with half a character as the id",
      { outcome: "accepted", provider_message_id: "\ud800" },
      `${isId}, got a string with half a surrogate pair`,
    ],
    [
      "rejected without an error",
      { outcome: "rejected", permanent: true },
      "error with code: expected a string, got undefined",
    ],
    [
      "rejected for an unknown time",
      { outcome: "rejected", error },
      "permanent: expected a boolean, got undefined",
    ],
    [
      "a carrier's code that is a number",
      { outcome: "ambiguous", error: { ...error, provider_code: 30_003 } },
      "error with provider_code: expected a string, got a number",
    ],
  ])("%s", async (_, answer, mistake) => {
    const { acme, one, id, log } = await sent({ send: () => answer as SendAnswer });
    expect(await one.messages.get(id)).toMatchObject({
      status: "ambiguous",
      error: { code: "unknown" },
    });
    const err = expect.objectContaining({
      message: `transport sandbox: send returned ${mistake}`,
    });
    expect(log).toMatchObject([{ level: "warn", facts: { transport: "sandbox", err } }]);
    expect(acme.calls).toHaveLength(1);
  });
});

it("a refusal with a code that the engine does not know has the code unknown, and keeps the carrier's", async () => {
  const refusal = { outcome: "rejected", permanent: true, error: { ...error, code: "E42" } };
  const { one, id } = await sent({ send: () => refusal as SendAnswer });
  expect(await one.messages.get(id)).toMatchObject({
    status: "failed",
    error: { code: "unknown", provider_code: "E42" },
  });
});

it("an answer of send of a wrong form that arrives late changes nothing, and the log names the mistake", async () => {
  const answer = held<SendAnswer>();
  const { clock, one, id, log } = await sent({ send: () => answer.promise });
  await clock.advance(30_000);
  const before = await one.messages.get(id);
  expect(before).toMatchObject({ status: "ambiguous", error: { code: "answer_lost" } });
  log.splice(0);
  answer.answer({ outcome: "accepted" } as SendAnswer);
  await clock.settle();
  expect(await one.messages.get(id)).toEqual(before);
  const err = expect.objectContaining({
    message: expect.stringMatching(
      /^transport sandbox: send returned provider_message_id: .*, got undefined$/,
    ),
  });
  expect(log).toMatchObject([{ level: "warn", facts: { err } }]);
});

it("a call that fails after its deadline is not logged again", async () => {
  const { clock, log } = await sent({
    send: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      }),
  });
  await clock.advance(30_000);
  expect(log).toEqual([]);
});

it("a transport may have null for a method that it lacks", async () => {
  const { clock, started, log } = world();
  const acme = {
    ...carrier({ receipts: { timeout_ms: 60_000, lookups_ms: [] } }),
    lookup: null,
    parseCallback: null,
    start: null,
    stop: null,
  } as unknown as Transport;
  const one = await started(memory(), { transports: [acme] });
  const { id } = await one.messages.send(hello);
  await clock.advance(60_000);
  expect((await one.messages.get(id)).status).toBe("unconfirmed");
  expect(log).toEqual([]);
});

it("a look-up of a wrong form counts as unknown, and is repeated", async () => {
  const { acme, clock, one, id, log } = await sent({
    send: () => lost,
    lookup: () => ({ outcome: "sent", provider_message_id: "p" }) as LookupAnswer,
  });
  await clock.advance(3_600_000);
  expect((await one.messages.get(id)).status).toBe("ambiguous");
  expect(acme.lookups.length).toBeGreaterThan(1);
  const message = "transport sandbox: lookup returned receipts: expected a list, got undefined";
  expect(log[0]).toMatchObject({ facts: { err: expect.objectContaining({ message }) } });
});

it.each([null, ""])("a report may have %j for what its carrier does not tell", async (nothing) => {
  const { acme, one, id } = await sent();
  const { provider_message_id } = await one.messages.get(id);
  const subject = { provider_message_id, attempt_id: nothing } as ReceiptSubject;
  const error = { code: "unreachable", message: "The phone is off.", provider_code: null };
  const receipt = { status: "undelivered", at: 0, error } as unknown as Receipt;
  await acme.sink().receipt(subject, receipt);
  expect(await one.messages.get(id)).toMatchObject({
    status: "undelivered",
    error: { code: "unreachable", provider_code: null },
  });
});

it.each([null, ""])("a message may have %j for its account", async (nothing) => {
  const { acme, one } = await sent();
  await acme.sink().inbound(inbound, nothing as string);
  expect((await one.messages.list({ direction: "inbound" })).data).toHaveLength(1);
});

it("only the fields of a file that the engine knows are stored, with a valid media type", async () => {
  const { acme, one } = await sent();
  const url = "https://media.example/1";
  const types = ["image/png", "Text/Plain; charset=utf-8", "image", "", null, undefined];
  const media = types.map((content_type) => ({ url, content_type, size: 1 })) as Media[];
  await acme.sink().inbound({ ...inbound, channel: "mms", media });
  const [message] = (await one.messages.list({ direction: "inbound" })).data;
  const [event] = (await one.events.list({ type: "message.received" })).data;
  const known = [
    { url, content_type: "image/png" },
    { url, content_type: "Text/Plain" },
    ...Array.from({ length: 4 }, () => ({ url })),
  ];
  expect(message?.media).toStrictEqual(known);
  expect(event?.data).toMatchObject({ media: known });
});

it("a report with a mistake is refused, and stores nothing", async () => {
  const { acme, one, id } = await sent();
  const [call] = acme.calls;
  const subject = { attempt_id: call?.attempt.attempt_id } as ReceiptSubject;
  const receipt = { status: "failed", at: 0 } as unknown as Receipt;
  await expect(acme.sink().receipt(subject, receipt)).rejects.toThrow(
    'transport sandbox: sink.receipt got status: expected "sent",',
  );
  const empty = { provider_message_id: "in-1", channel: "sms" } as InboundMessage;
  await expect(acme.sink().inbound(empty)).rejects.toThrow(
    "transport sandbox: sink.inbound got from: expected a string, got undefined",
  );
  expect((await one.messages.timeline(id)).data.map(({ type }) => type)).not.toContain("receipt");
  expect((await one.messages.list()).data).toHaveLength(1);
});

/** The response to a callback that `parseCallback` reads as `result`, and what the engine did. */
async function answered(result: object) {
  const { started, log } = world();
  const acme = { ...carrier(), parseCallback: async () => result } as Transport;
  const one = await started(memory(), { transports: [acme] });
  const port = await listening(nodeHandler(one));
  const url = `http://127.0.0.1:${port}/v1/transports/sandbox/callbacks`;
  const response = await fetch(url, { method: "POST", body: "{}" });
  return { response, one, log };
}

it("a response to a callback may have null for what it lacks", async () => {
  const nothing = { status: 200, content_type: null, body: null };
  const { response } = await answered({ receipts: [], inbound: [], response: nothing });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBeNull();
  expect(await response.text()).toBe("");
});

describe("a callback with a mistake stores nothing, and its carrier gets a 500", () => {
  const receipt = { status: "delivered", at: 0 };
  const isHeader = "a string of printable ASCII characters";
  it.each<[string, object, string]>([
    [
      "a carrier's own status",
      {
        receipts: [
          { subject: { provider_message_id: "p" }, receipt: { ...receipt, status: "failed" } },
        ],
      },
      'status: expected "sent", "delivered", "undelivered" or "read", got a string',
    ],
    [
      "a text as the status",
      {
        receipts: [
          { subject: { provider_message_id: "p" }, receipt: { ...receipt, status: "I am ill" } },
        ],
      },
      'status: expected "sent", "delivered", "undelivered" or "read", got a string',
    ],
    [
      "a receipt of a number",
      { receipts: [{ subject: { provider_message_id: 7 }, receipt }] },
      "provider_message_id: expected a string of 1 to 500 characters, got a number",
    ],
    ["no receipts", { receipts: undefined }, "receipts: expected a list, got undefined"],
    [
      "a message without a body",
      { inbound: [inbound, { ...inbound, provider_message_id: "in-2", body: undefined }] },
      "body: expected a string, got undefined",
    ],
    [
      "a message on an unknown channel",
      { inbound: [inbound, { ...inbound, channel: "fax" }] },
      'channel: expected "sms", "mms" or "webchat", got a string',
    ],
    [
      "a message with the carrier's own word for a keyword",
      { inbound: [{ ...inbound, keyword: "STOP" }] },
      'keyword: expected "opt_out", "opt_in" or "help", got a string',
    ],
    [
      "a response without a status",
      { inbound: [inbound], response: {} },
      "response.status: expected a whole number from 200 to 599, got undefined",
    ],
    [
      "a file with a number as its media type",
      { inbound: [{ ...inbound, media: [{ url: "https://media.example/1", content_type: 5 }] }] },
      "content_type: expected a string, got a number",
    ],
    [
      "a response with an object as its body",
      { inbound: [inbound], response: { status: 200, body: {} } },
      "response.body: expected a string, got an object",
    ],
    [
      "a response with a number as its media type",
      { inbound: [inbound], response: { status: 200, content_type: 5 } },
      `response.content_type: expected ${isHeader}, got a number`,
    ],
    [
      "a response with a media type of two lines",
      { inbound: [inbound], response: { status: 200, content_type: "text/xml\r\nx: 1" } },
      `response.content_type: expected ${isHeader}, got a string`,
    ],
    [
      "a response with a media type that no header can contain",
      { inbound: [inbound], response: { status: 200, content_type: "text/✓" } },
      `response.content_type: expected ${isHeader}, got a string`,
    ],
  ])("%s", async (_, part, mistake) => {
    const given = { receipts: [], inbound: [], response: { status: 204 }, ...part };
    const { response, one, log } = await answered(given);
    expect(response.status).toBe(500);
    expect((await one.messages.list()).data).toEqual([]);
    const err = expect.objectContaining({
      message: `transport sandbox: parseCallback returned ${mistake}`,
    });
    expect(log).toMatchObject([{ level: "error", facts: { err } }]);
  });
});
