/** Each carrier's statuses and error codes in the engine's terms. */
import type { OutboundMessagePayload } from "telnyx/resources/messages/messages";
import type { MessageStatus } from "twilio/lib/rest/api/v2010/account/message.js";
import { describe, expect, test } from "vitest";
import type { CarrierErrorCode } from "../../../src/ports/carrier-errors.ts";
import type {
  CallbackResult,
  Receipt,
  SendAnswer,
  Transport,
} from "../../../src/ports/transport.ts";
import {
  answered,
  attempt,
  broke,
  fromTelnyx,
  fromTwilio,
  line,
  message,
  overTelnyx,
  overTwilio,
  sid,
  uuid,
} from "./world.ts";

type Told = Receipt["status"] | "nothing";

const parse = (
  transport: Transport,
  request: Parameters<NonNullable<Transport["parseCallback"]>>[0],
): Promise<CallbackResult> => {
  if (transport.parseCallback === undefined) throw new Error("it parses no callbacks");
  return transport.parseCallback(request);
};
const toldBy = ({ receipts: [first] }: CallbackResult): Told => first?.receipt.status ?? "nothing";

describe("Twilio's", () => {
  const idle = overTwilio(line(() => broke(false)));
  /** Complete: another status in Twilio's package would not compile. */
  const statuses: Record<MessageStatus, Told> = {
    accepted: "sent",
    scheduled: "sent",
    queued: "sent",
    sending: "sent",
    sent: "sent",
    partially_delivered: "sent",
    delivered: "delivered",
    read: "read",
    undelivered: "undelivered",
    failed: "undelivered",
    canceled: "undelivered",
    receiving: "nothing",
    received: "nothing",
  };

  test("thirteen statuses mean the same in a callback and in a look-up, and others are ignored", async () => {
    expect(Object.keys(statuses)).toHaveLength(13);
    for (const [status, expected] of Object.entries({
      ...statuses,
      teleported: "nothing",
      "": "nothing",
    })) {
      const result = await parse(
        idle,
        fromTwilio([
          ["MessageSid", sid(1)],
          ["MessageStatus", status],
        ]),
      );
      expect([status, toldBy(result), result.inbound]).toEqual([status, expected, []]);
      const date = "Sun, 01 Mar 2026 09:00:00 +0000";
      const found = {
        sid: sid(1),
        status,
        error_code: null,
        date_created: date,
        date_updated: date,
      };
      const looked = await overTwilio(line(() => answered(200, found))).lookup?.(message, {
        ...attempt,
        provider_message_id: sid(1),
      });
      const receipts = expected === "nothing" ? [] : [{ status: expected, at: Date.parse(date) }];
      expect(looked).toMatchObject({ outcome: "sent", provider_message_id: sid(1), receipts });
    }
  });

  test.each<[code: number, CarrierErrorCode, permanent: boolean]>([
    [21211, "invalid_destination", true],
    [21408, "invalid_destination", true],
    [21610, "opted_out", true],
    [21611, "throttled", false],
    [21614, "landline", true],
    [21617, "content_rejected", true],
    [21620, "unsupported_media", true],
    [21659, "invalid_sender", true],
    [30003, "unreachable", false],
    [30006, "landline", true],
    [30007, "filtered", true],
    [30450, "filtered", true],
    [30034, "invalid_sender", true],
    [20003, "unauthorized", false],
    [20429, "throttled", false],
    [30500, "carrier_unavailable", false],
    [99999, "unknown", true],
  ])("code %d is %s", async (code, expected, permanent) => {
    const refusing = overTwilio(
      line(() => answered(400, { code, message: "It quotes +15005550001", status: 400 })),
    );
    const answer = await refusing.send(message, attempt);
    expect(answer).toMatchObject({
      outcome: "rejected",
      permanent,
      error: { code: expected, provider_code: String(code) },
    });
    expect(JSON.stringify(answer)).not.toContain("+1");
    const result = await parse(
      idle,
      fromTwilio([
        ["MessageSid", sid(1)],
        ["MessageStatus", "failed"],
        ["ErrorCode", String(code)],
      ]),
    );
    expect(result.receipts[0]?.receipt.error).toMatchObject({
      code: expected,
      provider_code: String(code),
    });
  });

  test("messages of other channels and messages without an id are ignored", async () => {
    const written = [
      ["To", "+15005550006"],
      ["Body", "Hi"],
      ["NumMedia", "0"],
    ] as const;
    for (const fields of [
      [["MessageSid", sid(1)], ["From", "whatsapp:+15005550001"], ...written],
      [["MessageSid", "x"], ["From", "+15005550001"], ...written],
      [["From", "+15005550001"], ...written],
    ] as const) {
      expect((await parse(idle, fromTwilio(fields))).inbound).toEqual([]);
    }
  });

  test("request asks for MMS even for a text without media", async () => {
    const http = line(() => answered(201, { sid: sid(1) }));
    await overTwilio(http).send({ ...message, channel: "mms" }, attempt);
    const form = new URLSearchParams(new TextDecoder().decode(http.requests[0]?.body ?? undefined));
    expect(form.get("SendAsMms")).toBe("true");
  });

  describe("look-up", () => {
    const row = (n: number, seconds: number, others: object = {}) => ({
      sid: sid(n),
      status: "sent",
      error_code: null,
      date_created: new Date(attempt.started_at + seconds * 1_000).toUTCString(),
      date_updated: new Date(attempt.started_at + seconds * 1_000).toUTCString(),
      direction: "outbound-api",
      from: message.from,
      to: message.to,
      messaging_service_sid: null,
      body: message.body,
      num_media: "0",
      ...others,
    });
    const lookUp = async (http: ReturnType<typeof line>, provider_message_id: string | null) =>
      overTwilio(http).lookup?.(message, { ...attempt, provider_message_id });
    const find = (rows: object[], next: string | null = null, status = 200) =>
      lookUp(
        line(() => answered(status, { messages: rows, next_page_uri: next })),
        null,
      );
    const named = (...ns: number[]) => ({
      outcome: "alike",
      messages: ns.map((n) => ({ provider_message_id: sid(n) })),
    });
    const unknown = { outcome: "unknown" };

    test("considers the messages created from 5 s before the attempt to 60 s after it", async () => {
      expect(await find([])).toEqual(named());
      expect(await find([row(3, 70), row(2, 1), row(1, -10)])).toMatchObject(named(2));
      expect(await find([row(3, 60), row(2, 1), row(1, -5)])).toMatchObject(named(3, 2, 1));
    });

    test("proves nothing while the next page may have messages of that time", async () => {
      expect(await find([row(2, 1), row(1, -6)], "/next")).toMatchObject(named(2));
      for (const last of [0, -5]) {
        expect(await find([row(2, 1), row(1, last)], "/next")).toEqual(unknown);
      }
    });

    test.each([
      { body: "Hello!" },
      { from: "+15005550007" },
      { to: "+15005550008" },
      { num_media: "1" },
      { direction: "inbound" },
    ])("does not take a message with %j for the attempt's", async (other) => {
      expect(await find([row(1, 1, other)])).toEqual(named());
    });

    test("proves nothing if a message or the response is not as documented", async () => {
      expect(await find([row(2, 1), { sid: 7 }])).toEqual(unknown);
      expect(await find([row(2, 1)], null, 500)).toEqual(unknown);
      const failing = line(() => answered(500, row(1, 1)));
      expect(await lookUp(failing, sid(1))).toEqual(unknown);
    });

    test("sends no request for an id that no message of Twilio has", async () => {
      const http = line(() => answered(200, row(1, 1)));
      expect(await lookUp(http, `../Calls/${sid(1)}`)).toEqual(unknown);
      expect(http.requests).toEqual([]);
    });
  });
});

describe("Telnyx's", () => {
  const idle = overTelnyx(line(() => broke(false)));
  type Status = NonNullable<NonNullable<OutboundMessagePayload["to"]>[number]["status"]>;
  const statuses: Record<Status | "scheduled" | "cancelled" | "expired" | "read", Told> = {
    scheduled: "sent",
    queued: "sent",
    sending: "sent",
    sent: "sent",
    delivery_unconfirmed: "sent",
    delivered: "delivered",
    read: "read",
    sending_failed: "undelivered",
    delivery_failed: "undelivered",
    expired: "undelivered",
    cancelled: "undelivered",
  };
  const finalized = (status: string, errors: unknown = []) =>
    fromTelnyx({
      data: {
        event_type: "message.finalized",
        payload: { id: uuid(1), to: [{ phone_number: "+1", status }], errors },
      },
    });

  test("statuses are those of the recipient, and unknown ones are ignored", async () => {
    for (const [status, expected] of Object.entries({ ...statuses, teleported: "nothing" })) {
      expect([status, toldBy(await parse(idle, finalized(status)))]).toEqual([status, expected]);
    }
  });

  test.each<[code: string, title: string, CarrierErrorCode, permanent: boolean]>([
    ["40310", "Invalid 'to' address", "invalid_destination", true],
    ["40001", "Not routable", "landline", true],
    ["40300", "Blocked due to STOP message", "opted_out", true],
    ["40300", "Undeliverable", "unreachable", false],
    ["40305", "Invalid 'from' address", "invalid_sender", true],
    ["40318", "Message queue full", "throttled", false],
    ["10009", "Authentication failed", "unauthorized", false],
    ["99999", "New", "unknown", true],
  ])("code %s, %s, is %s", async (code, title, expected, permanent) => {
    const answer: SendAnswer = await overTelnyx(
      line(() => answered(422, { errors: [{ code, title }] })),
    ).send(message, attempt);
    expect(answer).toMatchObject({
      outcome: "rejected",
      permanent,
      error: { code: expected, provider_code: code },
    });
    const { receipts } = await parse(idle, finalized("delivery_failed", [{ code, title }]));
    expect(receipts[0]?.receipt.error?.code).toBe(expected);
  });

  test("inbound message is accepted when its media cannot be read", async () => {
    const picture = {
      url: "https://media.example/1.png",
      content_type: null,
      size: null,
      hash_sha256: null,
    };
    const payload = {
      id: uuid(1),
      type: "MMS",
      from: { phone_number: "+15005550001" },
      to: [{ phone_number: "+15005550006", status: "webhook_delivered" }],
      text: "Look!",
      media: [{ ...picture, url: null }, picture],
    };
    const data = { event_type: "message.received", occurred_at: null, payload };
    const { inbound } = await parse(idle, fromTelnyx({ data }));
    expect(inbound).toMatchObject([
      { channel: "mms", body: "Look!", media: [{ url: picture.url }] },
    ]);
  });

  test("inbound media have a URL and a media type, or are left out", async () => {
    const given = [
      ["https://media.example/1.png", "image/png; name=a"],
      ["https://media.example/2.png", "<b>"],
      ["https://media.example/3.png", "x".repeat(100_000)],
      ["https://media.example/4.png", "image/png\0"],
      ["https://media.example/\0.png", "image/png"],
      ["https://media.example/\ud800.png", "image/png"],
      ["https://media.example/ a.png", "image/png"],
      ["javascript:alert(1)", "image/png"],
    ] as const;
    const payload = {
      id: uuid(1),
      type: "MMS",
      from: { phone_number: "+15005550001" },
      to: [{ phone_number: "+15005550006", status: "webhook_delivered" }],
      media: given.map(([url, content_type]) => ({ url, content_type })),
    };
    const data = { event_type: "message.received", payload };
    const { inbound } = await parse(idle, fromTelnyx({ data }));
    expect(inbound[0]?.media).toEqual([
      { url: given[0][0], content_type: "image/png" },
      ...given.slice(1, 4).map(([url]) => ({ url })),
    ]);
  });

  test("group messages belong to the account's own number", async () => {
    const payload = {
      id: uuid(1),
      type: "MMS",
      from: { phone_number: "+15005550001" },
      to: [
        { phone_number: "+15005550009", status: "delivered" },
        { phone_number: "+15005550006", status: "webhook_delivered" },
      ],
      text: null,
      media: [],
    };
    const { inbound } = await parse(
      idle,
      fromTelnyx({ data: { event_type: "message.received", payload } }),
    );
    expect(inbound).toMatchObject([{ to: "+15005550006", channel: "mms", body: "" }]);
  });
});

test("invalid options are refused when the transport is created", () => {
  const http = line(() => broke(false));
  for (const make of [
    () => overTwilio(http, { accountSid: "AC1" }),
    () => overTwilio(http, { authToken: "" }),
    () => overTwilio(http, { callbackUrl: "/v1/transports/twilio/callbacks" }),
    () => overTwilio(http, { callbackUrl: "https://shop.example/?a=b" }),
    () => overTwilio(http, { apiUrl: "ftp://api.example" }),
    () => overTelnyx(http, { apiKey: "" }),
    () => overTelnyx(http, { publicKey: "AAAA" }),
    () => overTelnyx(http, { messagingProfileId: "Shop 24" }),
    () => overTelnyx(http, { callbackUrl: "shop.example" }),
  ]) {
    expect(make).toThrow(
      /^(?:twilio|telnyx): (accountSid|authToken|callbackUrl|apiUrl|apiKey|publicKey|messagingProfileId): expected /,
    );
  }
});
