/**
 * Our requests and our stand-ins' responses, checked by Prism against the carriers' published
 * OpenAPI documents.
 */
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { destinations } from "../../../src/ports/destinations.ts";
import type { HttpClient } from "../../../src/ports/http-client.ts";
import type { CallbackRequest } from "../../../src/ports/transport.ts";
import { listening } from "../../support/listening.ts";
import { runs } from "../../support/runs.ts";
import { messages } from "./messages.ts";
import { eventPath, judged, prism, published } from "./prism.ts";
import { telnyxCarrier, telnyxUnderTest, to, twilioCarrier } from "./stand-ins.ts";
import { attempt, message, overTelnyx, overTwilio, profile, service, sid, uuid } from "./world.ts";

const twilioMessages = "/2010-04-01/Accounts/{AccountSid}/Messages";

const carriers = [
  {
    name: "twilio",
    over: overTwilio,
    pool: service,
    create: `post ${twilioMessages}.json`,
    fields: [
      "Body",
      "From",
      "MediaUrl",
      "MessagingServiceSid",
      "SendAsMms",
      "StatusCallback",
      "To",
    ],
    questions: [
      [`get ${twilioMessages}/{Sid}.json`, []],
      [`get ${twilioMessages}.json`, ["From", "PageSize", "To"]],
    ],
    id: sid(7),
    shown: "sent",
    listed: "alike",
    standIn: () => twilioCarrier(() => attempt.started_at),
  },
  {
    name: "telnyx",
    over: overTelnyx,
    pool: profile,
    create: "post /v2/messages",
    fields: ["from", "media_urls", "messaging_profile_id", "text", "to", "type", "webhook_url"],
    questions: [["get /v2/messages/{id}", []]],
    // Each response is about the message in the document's example, whatever was requested.
    id: "40385f64-5717-4562-b3fc-2c963f66afa6",
    shown: "sent",
    // Telnyx has no listing.
    listed: "unknown",
    standIn: telnyxCarrier,
  },
] as const;

const picture = { url: "https://shop.example/a.png" };
const wordsAsMms = { ...message, channel: "mms" } as const;
const pictureAsMms = { ...wordsAsMms, media: [picture] };

const bounds = {
  to: destinations({ http: true, allow: ["127.0.0.1"] }),
  deadline_ms: 5_000,
  max_body_bytes: 262_144,
};

/** A stand-in for a carrier, on a socket. */
async function behind(http: HttpClient): Promise<string> {
  const port = await listening((request, response) => {
    void (async () => {
      const { method, url, headers } = request;
      const body = await buffer(request);
      const outcome = await http.send({
        method: method === "GET" ? "GET" : "POST",
        url: `https://carrier.example${url}`,
        headers: { "content-type": headers["content-type"] ?? "" },
        body: body.length === 0 ? null : body,
        ...bounds,
      });
      if (outcome.outcome === "failed") return void response.destroy();
      response
        .writeHead(outcome.status, { "content-type": "application/json", ...outcome.headers })
        .end(outcome.body);
    })();
  });
  return `http://127.0.0.1:${port}`;
}

describe.each(carriers)("the document that $name publishes", (carrier) => {
  const { name, over, pool, create, fields, questions, id, shown, listed, standIn } = carrier;

  test("allows every message with all its fields, and has responses that we can read", async () => {
    const operations = await published(name);
    const http = judged(operations);
    const transport = over(http, { apiUrl: await prism(operations) });
    await fc.assert(
      fc.asyncProperty(messages(pool), async (outbound) => {
        const answer = await transport.send(outbound, attempt);
        expect(http.complaints.splice(0)).toEqual([]);
        expect(answer).toMatchObject({ outcome: "accepted" });
      }),
      // The random messages alone may not have all fields.
      {
        numRuns: runs(100),
        examples: [[wordsAsMms], [pictureAsMms], [{ ...message, from: pool }]],
      },
    );
    expect([...(http.fields.get(create) ?? [])].toSorted()).toEqual(fields);
  });

  test("forbids each of our fields under another name", async () => {
    const operations = await published(name);
    const apiUrl = await prism(operations);
    const forbidden = new Set<string>();
    for (const field of fields) {
      const http = judged(operations);
      const misnaming: HttpClient = {
        ...http,
        send: (request) => {
          const body = new TextDecoder().decode(request.body ?? undefined);
          const misnamed = body.replace(new RegExp(`\\b${field}(?="?[:=])`), `${field}s`);
          return http.send({ ...request, body: new TextEncoder().encode(misnamed) });
        },
      };
      for (const outbound of [
        message,
        { ...message, from: pool, channel: "mms" as const, media: [picture] },
        wordsAsMms,
      ]) {
        await over(misnaming, { apiUrl }).send(outbound, attempt);
      }
      if (http.complaints.length > 0) forbidden.add(field);
    }
    expect([...forbidden]).toEqual(fields);
  });

  test("allows our look-ups, and has responses that we can read", async () => {
    const operations = await published(name);
    const http = judged(operations);
    const transport = over(http, { apiUrl: await prism(operations) });
    for (const from of [message.from, pool]) {
      for (const provider_message_id of [id, null]) {
        const answer = await transport.lookup?.(
          { ...message, from },
          { ...attempt, provider_message_id },
        );
        const known = { outcome: "sent", receipts: [{ status: shown }] };
        expect(answer).toMatchObject(provider_message_id === null ? { outcome: listed } : known);
      }
    }
    expect(http.complaints).toEqual([]);
    expect([...http.fields].map(([asked, sent]) => [asked, [...sent].toSorted()])).toEqual(
      questions,
    );
  });

  test("allows every response of our stand-in", async () => {
    const operations = await published(name);
    const http = judged(operations);
    const transport = over(http, { apiUrl: await prism(operations, await behind(standIn().http)) });
    const taken: string[] = [];
    for (let nth = 0; nth < 22; nth++) {
      const answer = await transport.send(to("accepts"), attempt);
      if (answer.outcome === "accepted") taken.push(answer.provider_message_id);
    }
    expect(taken).toHaveLength(22);
    for (const fate of ["refuses", "throttles"] as const) {
      expect(await transport.send(to(fate), attempt)).toMatchObject({ outcome: "rejected" });
    }
    for (const provider_message_id of [taken[0] ?? "", id, null]) {
      await transport.lookup?.(to("accepts"), { ...attempt, provider_message_id });
    }
    expect(http.complaints).toEqual([]);
  });
});

test("the events of our stand-in for Telnyx match the document", async () => {
  const operations = await published("telnyx");
  const http = judged(operations);
  const url = await prism(operations);
  const { callbacks } = telnyxUnderTest();
  const of = { attempt_id: attempt.attempt_id, provider_message_id: uuid(1), message };
  const tell = async (schema: string, told: CallbackRequest | undefined): Promise<void> => {
    if (told === undefined) return;
    const { headers, body } = told;
    await http.send({ method: "POST", url: url + eventPath(schema), headers, body, ...bounds });
  };
  for (const status of ["sent", "delivered", "undelivered", "read"] as const) {
    await tell("OutboundMessageEvent", callbacks?.receipt(of, status, attempt.started_at));
  }
  for (const media of [[], [{ url: "https://media.example/1", content_type: "image/png" }]]) {
    const inbound = {
      ...message,
      channel: "sms",
      provider_message_id: uuid(2),
      media,
      at: attempt.started_at,
    } as const;
    await tell("InboundMessageEvent", callbacks?.inbound(inbound));
  }
  expect(http.complaints).toEqual([]);
  expect(http.fields.size).toBe(2);
});
