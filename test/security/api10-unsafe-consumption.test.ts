/**
 * API10:2023. What other servers send is checked and bounded like what clients send. How carriers
 * and receivers misbehave on a socket is in `test/adapters`, and in `npm run fuzz`.
 */
import { afterEach, describe, expect, test } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { HttpOutcome } from "../../src/ports/http-client.ts";
import { maxCallbackBytes, type CallbackRequest } from "../../src/ports/transport.ts";
import {
  answered,
  fromTelnyx,
  fromTwilio,
  line,
  overTelnyx,
  overTwilio,
  sid,
  uuid,
} from "../adapters/transport/world.ts";
import { call, jsonOf } from "../api/call.ts";
import { idleWorld, type SecurityWorld } from "./world.ts";

let there: SecurityWorld | undefined;
afterEach(() => there?.stop());

const huge = "x".repeat(100_000);
const shop = "+15005550006";
const phone = "+15005551000";

const telnyxText = (text: string, from = phone, more: object = {}): CallbackRequest =>
  fromTelnyx({
    data: {
      event_type: "message.received",
      payload: {
        id: uuid(7),
        type: "SMS",
        from: { phone_number: from },
        to: [{ phone_number: shop, status: "webhook_delivered" }],
        text,
        ...more,
      },
    },
  });
const twilioText = (text: string, from = phone, more: Readonly<Record<string, string>> = {}) =>
  fromTwilio(Object.entries({ MessageSid: sid(7), From: from, To: shop, Body: text, ...more }));

/** Callbacks with a genuine signature, as a carrier with a fault or in the wrong hands sends them. */
const signed: readonly (readonly [
  what: string,
  twilio: CallbackRequest,
  telnyx: CallbackRequest,
])[] = [
  ["a long text", twilioText(huge), telnyxText(huge)],
  ["NUL and lone surrogates", twilioText("\0\ud800\u202e"), telnyxText("\0\ud800\u202e")],
  ["a sender that is no number", twilioText("x", "<b>+1"), telnyxText("x", "<b>+1")],
  ["a long sender", twilioText("x", `+${"1".repeat(5_000)}`), telnyxText("x", huge)],
  [
    "thousands of media",
    twilioText("x", phone, { NumMedia: "99999999", MediaUrl0: `https://x.example/${huge}` }),
    telnyxText("x", phone, {
      media: Array.from({ length: 5_000 }, () => ({ url: "javascript:alert(1)" })),
    }),
  ],
  [
    "a time that is none",
    twilioText("x", phone, { DateSent: "never" }),
    telnyxText("x", phone, { received_at: "+275760-09-13T00:00:00.001Z" }),
  ],
  [
    "a time far away",
    twilioText("x", phone),
    telnyxText("x", phone, { received_at: "-271821-04-20T00:00:00Z" }),
  ],
  [
    "names of prototypes",
    twilioText("x", phone, { __proto__: "x", constructor: "x" }),
    fromTelnyx('{"data":{"event_type":"message.received","__proto__":{"payload":{"id":"x"}}}}'),
  ],
  ["nothing", fromTwilio([]), fromTelnyx("")],
  ["deep lists", fromTwilio([["[".repeat(50_000), ""]]), fromTelnyx("[".repeat(100_000))],
  [
    "a receipt without its message",
    fromTwilio([
      ["MessageSid", sid(9)],
      ["MessageStatus", "delivered"],
      ["ErrorCode", "1e999"],
    ]),
    fromTelnyx({
      data: {
        event_type: "message.finalized",
        occurred_at: "275760-09-13",
        payload: { id: uuid(9), to: [{ phone_number: phone, status: "delivered" }] },
      },
    }),
  ],
];

describe.each(["twilio", "telnyx"] as const)("a callback of %s", (name) => {
  async function world(): Promise<SecurityWorld> {
    const http = line(() => answered(201, { sid: sid(1), data: { id: uuid(1) } }));
    const made = idleWorld({ transports: [overTwilio(http), overTelnyx(http)], mode: "live" });
    // The signatures of Telnyx are as old as their time.
    await made.clock.advanceTo("2026-03-01T09:00:00Z");
    await made.engine.start();
    const sender = { address: shop, channels: ["sms"], transport: name } as const;
    await made.engine.senders.create({ ...sender, channels: [...sender.channels] });
    there = made;
    return made;
  }

  const receive = ({ engine }: SecurityWorld, { url, headers, body }: CallbackRequest) =>
    call(engine.api, {
      method: "POST",
      path: url.replace("/api/", "/"),
      headers: Object.entries(headers).flat(),
      raw: Buffer.from(body).toString(),
    });

  test.each(signed)(
    "with %s is answered without an error, and what it leaves is valid",
    async (_, ...both) => {
      const made = await world();
      const request = name === "twilio" ? both[0] : both[1];
      const { status } = await receive(made, request);
      expect(status).toBeOneOf([200, 204, 403, 413, 422]);
      await made.clock.advance(60_000);
      expect(made.errors).toEqual([]);
      const account = made.engine.account(undefined, { mode: "live" });
      const { data } = await account.messages.list();
      for (const { body, media, from } of data) {
        expect((body ?? "").length).toBeLessThanOrEqual(maxCallbackBytes);
        expect((media ?? []).length).toBeLessThanOrEqual(10);
        expect(from?.length).toBeLessThanOrEqual(64);
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );

  test("with a body over its limit is refused before its signature is checked", async () => {
    const made = await world();
    const big = fromTwilio([["Body", "x".repeat(maxCallbackBytes)]]);
    const url = `/api/v1/transports/${name}/callbacks`;
    const answer = await receive(made, { ...big, url });
    expect(jsonOf(answer)).toMatchObject({ code: "body_too_large" });
  });
});

/** What a receiver of webhooks answers. The client has already cut its body. */
const answers: readonly (readonly [what: string, outcome: HttpOutcome])[] = [
  ["bytes", { ...answered(500, ""), body: new Uint8Array(16_384).fill(0xff) } as HttpOutcome],
  ["markup", answered(500, "<script>alert(1)</script>", { "content-type": "text/html" })],
  ["a status that is none", answered(999, "x")],
  ["status 0", answered(0, "")],
  ["a wait for ever", answered(429, "", { "retry-after": "9".repeat(300) })],
  ["a wait into the past", answered(503, "", { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" })],
  ["names of prototypes", answered(500, "", { constructor: "x", toString: "y" })],
  ["a redirect", answered(302, "", { location: "http://169.254.169.254/" })],
];

test.each(answers)(
  "a webhook's receiver that answers %s is recorded as it was",
  async (_, outcome) => {
    const http = line(() => outcome);
    const made = idleWorld({ http: { client: http }, storage: memory() });
    there = made;
    const { secret: key } = await made.tenant("sandbox");
    await made.engine.start();
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await call(made.engine.api, { method, path, key, ...(body && { body }) });
      expect(answer.status).toBeLessThan(300);
      return jsonOf(answer);
    };
    const url = "https://example.com/hook";
    const { id } = await ask("POST", "/v1/webhooks", { url, events: ["message.sent"] });
    const { id: delivery } = await ask("POST", `/v1/webhooks/${String(id)}/test`, {});
    await made.clock.advance(1_000);
    const path = `/v1/webhooks/${String(id)}/deliveries/${String(delivery)}`;
    const { attempts, next_attempt_at } = await ask("GET", path);
    expect(attempts).toMatchObject([{ number: 1, error: expect.any(String) as unknown }]);
    // No answer postpones the next attempt by more than a day.
    if (typeof next_attempt_at === "string") {
      expect(Date.parse(next_attempt_at) - made.clock.now()).toBeLessThan(25 * 3_600_000);
    }
    expect(made.errors).toEqual([]);
    expect(http.requests.map((request) => request.url)).toEqual([url]);
  },
);
