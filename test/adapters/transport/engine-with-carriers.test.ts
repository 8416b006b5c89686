/**
 * What carriers' answers, callbacks and listings mean for messages, observed over the `/v1` API.
 */
import { describe, expect, test } from "vitest";
import { fetchHandler } from "../../../adapters/http/fetch.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import { sandbox } from "../../../adapters/transport/sandbox/index.ts";
import type { MessagingEngine } from "../../../src/engine.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import type { CallbackRequest, Transport } from "../../../src/ports/transport.ts";
import { world } from "../../support/engines/world.ts";
import { lightStorages } from "../../support/storage/storages.ts";
import { twilioCarrier } from "./stand-ins.ts";
import {
  accountSid,
  answered,
  broke,
  fromTelnyx,
  fromTwilio,
  line,
  overTelnyx,
  overTwilio,
  sid,
  uuid,
} from "./world.ts";

const hello = { to: "+15005551000", body: "Hello" };
const from = "+15005550006";
const minute = 60_000;

const call = async (engine: MessagingEngine, { url, headers, body }: CallbackRequest) => {
  const request = new Request(`http://inside.example${url}`, {
    method: "POST",
    headers,
    body: Buffer.from(body),
  });
  const response = await fetchHandler(engine, { basePath: "/api" })(request);
  return {
    status: response.status,
    type: response.headers.get("content-type"),
    body: await response.text(),
  };
};

/** An engine in live mode with one sender on the transport. */
async function live(
  transportOf: (now: () => number) => Transport,
  storage: StoragePort = memory(),
) {
  const { clock, started, log } = world();
  const transport = transportOf(() => clock.now());
  const one = await started(storage, { transports: [sandbox(), transport] });
  const account = one.account(undefined, { mode: "live" });
  await account.senders.create({
    address: from,
    channels: ["sms", "mms"],
    transport: transport.name,
  });
  const attemptOf = async (id: string): Promise<`att_${string}`> => {
    const { data } = await account.messages.timeline(id);
    const attempt = data.find((entry) => entry.type === "attempt");
    if (attempt?.type !== "attempt") throw new Error("no attempt was made");
    return attempt.id;
  };
  return { clock, engine: one, account, log, attemptOf };
}

describe.each(lightStorages)("a message whose answer was lost, on $name,", ({ open }) => {
  test("is found by the callback with its attempt's id, once", async () => {
    const http = line(() => broke(true));
    const { clock, engine, account, attemptOf } = await live(
      () => overTwilio(http),
      open().connect(),
    );
    const { id } = await account.messages.send(hello);
    await clock.settle();
    expect((await account.messages.get(id)).status).toBe("ambiguous");
    const tell = async (status: string) =>
      call(
        engine,
        fromTwilio(
          [
            ["MessageSid", sid(1)],
            ["MessageStatus", status],
          ],
          `?attempt=${await attemptOf(id)}`,
        ),
      );
    for (const status of ["delivered", "queued", "delivered", "sent"]) {
      expect((await tell(status)).status).toBe(204);
    }
    await clock.advance(5 * minute);
    const { status, provider_message_id } = await account.messages.get(id);
    expect({ status, provider_message_id }).toEqual({
      status: "delivered",
      provider_message_id: sid(1),
    });
    expect(http.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  });

  test("is found by the only similar message in the listing", async () => {
    const twilio = { http: line(() => broke(true)), rows: [] as unknown[] };
    const { clock, engine, account, attemptOf } = await live((now) => {
      const carrier = twilioCarrier(now);
      twilio.rows = carrier.rows;
      twilio.http = line(async (request) => {
        const answer = await carrier.http.send(request);
        return request.method === "POST" ? broke(true) : answer;
      });
      return overTwilio(twilio.http);
    }, open().connect());
    const { id } = await account.messages.send(hello);
    await clock.advance(10_000);
    const { status, provider_message_id } = await account.messages.get(id);
    expect({ status, provider_message_id }).toEqual({
      status: "sent",
      provider_message_id: sid(1),
    });
    // Another similar message in the same second: one of the two is known to belong to another
    // attempt.
    const next = await account.messages.send(hello);
    await clock.settle();
    const told = [
      ["MessageSid", sid(2)],
      ["MessageStatus", "sent"],
    ] as const;
    await call(engine, fromTwilio(told, `?attempt=${await attemptOf(next.id)}`));
    const last = await account.messages.send(hello);
    await clock.advance(10_000);
    expect((await account.messages.get(last.id)).provider_message_id).toBe(sid(3));
    expect(twilio.rows).toHaveLength(3);
  });

  test("stays ambiguous when the listing has two similar messages or none", async () => {
    for (const copies of [0, 2]) {
      const posts: unknown[] = [];
      const { clock, account } = await live((now) => {
        const carrier = twilioCarrier(now);
        return overTwilio(
          line(async (request) => {
            if (request.method === "GET") return carrier.http.send(request);
            posts.push(request);
            for (let i = 0; i < copies; i++) await carrier.http.send(request);
            return broke(true);
          }),
        );
      }, open().connect());
      const { id } = await account.messages.send(hello);
      await clock.advance(15 * minute);
      expect([posts.length, (await account.messages.get(id)).status]).toEqual([1, "ambiguous"]);
    }
  });
});

describe("with a carrier", () => {
  test("a refusal because of an opt-out records the opt-out", async () => {
    for (const [transport, refusal] of [
      [
        overTwilio,
        answered(400, {
          code: 21610,
          message: "Attempt to send to unsubscribed recipient",
          status: 400,
        }),
      ],
      [
        overTelnyx,
        answered(409, { errors: [{ code: "40300", title: "Blocked due to STOP message" }] }),
      ],
    ] as const) {
      const { clock, account } = await live(() => transport(line(() => refusal)));
      const { id, contact_id } = await account.messages.send(hello);
      await clock.settle();
      expect((await account.messages.get(id)).error).toMatchObject({
        code: "opted_out",
        permanent: true,
      });
      expect((await account.contacts.get(contact_id)).opted_out).toBe(true);
      await expect(account.messages.send(hello)).rejects.toMatchObject({
        code: "recipient_opted_out",
      });
    }
  });

  test("a receipt with an opt-out records the opt-out", async () => {
    const http = line(() => answered(201, { sid: sid(5) }));
    const { clock, engine, account } = await live(() => overTwilio(http));
    const { contact_id } = await account.messages.send(hello);
    await clock.settle();
    await call(
      engine,
      fromTwilio([
        ["MessageSid", sid(5)],
        ["MessageStatus", "failed"],
        ["ErrorCode", "21610"],
      ]),
    );
    expect((await account.contacts.get(contact_id)).opted_out).toBe(true);
  });

  test("a keyword that only the carrier knows is applied", async () => {
    const contact = "+15005551234";
    const viaTwilio = (n: number, body: string, type: string) =>
      fromTwilio([
        ["MessageSid", sid(n)],
        ["From", contact],
        ["To", from],
        ["Body", body],
        ["OptOutType", type],
      ]);
    const viaTelnyx = (n: number, text: string, autoresponse_type: string, now: number) => {
      const [sender, to] = [{ phone_number: contact }, [{ phone_number: from, status: "ok" }]];
      const payload = { id: uuid(n), type: "SMS", from: sender, to, text, autoresponse_type };
      return fromTelnyx({ data: { event_type: "message.received", payload } }, now);
    };
    for (const [transport, inbound] of [
      [overTwilio, viaTwilio],
      [overTelnyx, viaTelnyx],
    ] as const) {
      const { clock, engine, account } = await live(() => transport(line(() => broke(false))));
      const said: (readonly [string, string])[] = [
        ["Yes", "START"],
        ["BAJA", "STOP"],
        ["STOP", "HELP"],
        ["Alta", "START"],
        ["Help", "STOP"],
      ];
      const statuses: unknown[] = [];
      for (const [n, [body, type]] of said.entries()) {
        expect((await call(engine, inbound(n, body, type, clock.now()))).status).toBe(200);
        const [{ id } = { id: "" }] = (await account.contacts.list({ phone: contact })).data;
        const [consent] = (await account.contacts.consents(id)).data;
        statuses.push([consent?.status, consent?.evidence.length]);
      }
      // An opt-in counts only from a contact who has opted out: "Yes" may answer a question.
      expect(statuses).toEqual([
        ["unknown", 0],
        ["opted_out", 1],
        ["opted_out", 2],
        ["opted_in", 3],
        ["opted_out", 4],
      ]);
    }
  });

  test("an inbound message is stored once, and Twilio gets an empty response", async () => {
    const { engine, account } = await live(() => overTwilio(line(() => broke(false))));
    const fields = [
      ["MessageSid", `MM${"a".repeat(32)}`],
      ["From", "+15005551234"],
      ["To", from],
      ["Body", "Look!"],
      ["NumMedia", "1"],
      ["MediaUrl0", "https://api.twilio.com/2010-04-01/x"],
      ["MediaContentType0", "image/jpeg"],
    ] as const;
    // After an error, Twilio calls the fallback URL with two more fields.
    const failed = [
      ["ErrorCode", "11200"],
      ["ErrorUrl", "https://shop.example/"],
    ] as const;
    for (const more of [[], [], failed]) {
      expect(await call(engine, fromTwilio([...fields, ...more]))).toEqual({
        status: 200,
        type: "text/xml",
        body: "<Response></Response>",
      });
    }
    const { data } = await account.messages.list({ direction: "inbound" });
    const media = [{ url: "https://api.twilio.com/2010-04-01/x", content_type: "image/jpeg" }];
    expect(data).toMatchObject([{ channel: "mms", body: "Look!", from: "+15005551234", media }]);
  });

  test("callbacks with a wrong signature are refused", async () => {
    const http = line(() => answered(201, { sid: sid(5) }));
    const { clock, engine, account } = await live(() => overTwilio(http));
    const { id } = await account.messages.send(hello);
    await clock.settle();
    const honest = fromTwilio([
      ["MessageSid", sid(5)],
      ["MessageStatus", "delivered"],
    ]);
    const forged = [
      { ...honest, headers: {} },
      { ...honest, headers: { "x-twilio-signature": "x" } },
      { ...honest, url: `${honest.url}?attempt=att_01JZ0000000000000000000000` },
    ];
    for (const each of forged) {
      const { status, body } = await call(engine, each);
      expect([status, JSON.parse(body)]).toMatchObject([
        403,
        { code: "invalid_signature", retryable: false },
      ]);
    }
    const huge = { ...honest, body: Buffer.alloc(200_000, "a=&") };
    expect((await call(engine, huge)).status).toBe(413);
    expect((await account.messages.get(id)).status).toBe("sent");
  });

  test("a receipt of Telnyx belongs to the attempt that its signed body names", async () => {
    const http = line(() => broke(true));
    const { clock, engine, account, attemptOf } = await live(() => overTelnyx(http));
    const { id } = await account.messages.send(hello);
    await clock.settle();
    const event = async (webhook_url: string) => ({
      data: {
        event_type: "message.finalized",
        payload: {
          id: uuid(3),
          to: [{ phone_number: hello.to, status: "delivered" }],
          webhook_url,
        },
      },
    });
    const named = `?attempt=${await attemptOf(id)}`;
    await call(engine, fromTelnyx(await event("https://x.example/"), clock.now(), named));
    expect((await account.messages.get(id)).status).toBe("ambiguous");
    await call(engine, fromTelnyx(await event(`https://x.example/${named}`), clock.now()));
    expect(await account.messages.get(id)).toMatchObject({
      status: "delivered",
      provider_message_id: uuid(3),
    });
  });

  test("a sandbox account does not call the carrier", async () => {
    const http = line(() => broke(true));
    const { clock, started } = world();
    const routes = [{ transports: ["twilio", "telnyx"] }, { transports: ["twilio", "sandbox"] }];
    const one = await started(memory(), {
      transports: [sandbox(), overTwilio(http), overTelnyx(http)],
      routes,
    });
    const { account } = await one.accounts.create({ name: "Bakery" });
    for (const handle of [one.account(), one.account(account.id)]) {
      for (const transport of ["twilio", "telnyx"]) {
        const sender = { address: from, channels: ["sms"] as const, transport };
        await expect(handle.senders.create({ ...sender, channels: ["sms"] })).rejects.toMatchObject(
          {
            status: 422,
            message:
              `transport: No transport ${transport} is configured for sandbox. ` +
              "Configured: sandbox, webchat.",
          },
        );
      }
      for (let n = 1; n <= 20; n++) {
        await handle.messages.send({
          to: `+150055500${String(n).padStart(2, "0")}`,
          body: "Hello",
        });
      }
    }
    await clock.advance(3 * minute);
    expect(http.requests).toEqual([]);
  });

  test("a carrier's Retry-After is followed, and the message is sent once", async () => {
    const http = line((_, nth) =>
      nth < 3
        ? answered(429, { code: 20429 }, { "retry-after": "7" })
        : answered(201, { sid: sid(1) }),
    );
    const { clock, account } = await live(() => overTwilio(http));
    const { id } = await account.messages.send(hello);
    await clock.advance(13_999);
    expect(http.requests).toHaveLength(2);
    await clock.advance(1);
    expect([http.requests.length, (await account.messages.get(id)).status]).toEqual([3, "sent"]);
    expect(new URL(http.requests[0]?.url ?? "").pathname).toContain(accountSid);
  });
});
