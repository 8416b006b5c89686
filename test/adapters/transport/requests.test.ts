/** Our requests compared with those of the carriers' own packages for the same message. */
import fc from "fast-check";
import Telnyx from "telnyx";
import twilioPackage from "twilio";
import { describe, expect, test } from "vitest";
import { strictMediaUrl } from "../../../adapters/transport/carrier-api.ts";
import type { HttpRequest } from "../../../src/ports/http-client.ts";
import type { LookupContext, OutboundMessage } from "../../../src/ports/transport.ts";
import { runs } from "../../support/runs.ts";
import { messages } from "./messages.ts";
import {
  accountSid,
  answered,
  attempt,
  authToken,
  line,
  message,
  overTelnyx,
  overTwilio,
  profile,
  service,
  sid,
  telnyxCallbacks,
  twilioCallbacks,
  uuid,
} from "./world.ts";

const text = (bytes: Uint8Array | null): string => new TextDecoder().decode(bytes ?? undefined);
const sorted = (pairs: Iterable<[string, string]>): string[] =>
  [...pairs].map((pair) => pair.join("=")).toSorted();

async function sent(
  over: typeof overTwilio | typeof overTelnyx,
  outbound: OutboundMessage,
): Promise<HttpRequest> {
  const http = line(() => answered(201, { sid: sid(1), data: { id: uuid(1) } }));
  expect(await over(http).send(outbound, attempt)).toMatchObject({ outcome: "accepted" });
  const [request] = http.requests;
  if (request === undefined) throw new Error("nothing was sent");
  return request;
}

describe("a request to Twilio", () => {
  type Field = string | number | undefined;
  type Fields = Readonly<Record<string, Field | readonly Field[]>>;
  /** A client of the package, whose requests are recorded. */
  interface Call {
    readonly method: string;
    readonly uri: string;
    readonly username?: string;
    readonly password?: string;
    readonly data?: Fields;
    readonly params?: Fields;
  }
  function packaged() {
    const calls: Call[] = [];
    const httpClient = {
      async request(call: Call) {
        calls.push(call);
        const found = { sid: sid(1), messages: [] };
        return {
          statusCode: call.method === "post" ? 201 : 200,
          body: JSON.stringify(found),
          headers: {},
        };
      },
    };
    const client = twilioPackage(accountSid, authToken, { httpClient: httpClient as never });
    return { calls, client };
  }
  const flat = (data: Fields = {}): string[] =>
    sorted(
      Object.entries(data).flatMap(([name, value]) =>
        [value]
          .flat()
          .flatMap((each): [string, string][] =>
            each === undefined ? [] : [[name, String(each)]],
          ),
      ),
    );

  test("is the one that the package makes, for every kind of message and sender", async () => {
    await fc.assert(
      fc.asyncProperty(messages(service), async (outbound) => {
        const { calls, client } = packaged();
        await client.messages.create({
          to: outbound.to,
          ...(outbound.from === service
            ? { messagingServiceSid: service }
            : { from: outbound.from }),
          ...(outbound.body === "" ? {} : { body: outbound.body }),
          ...(outbound.media.length === 0
            ? {}
            : { mediaUrl: outbound.media.map(({ url }) => strictMediaUrl(url)) }),
          // Otherwise it would be sent as an SMS.
          ...(outbound.channel === "mms" && outbound.media.length === 0 ? { sendAsMms: true } : {}),
          statusCallback: `${twilioCallbacks}?attempt=${attempt.attempt_id}`,
        });
        const [theirs] = calls;
        const ours = await sent(overTwilio, outbound);
        expect(ours.url, "The URL is that of Twilio's library.").toBe(theirs?.uri);
        expect(ours.method.toLowerCase(), "The method is that of Twilio's library.").toBe(
          theirs?.method,
        );
        expect(
          ours.headers["content-type"],
          "The body is a form, as Twilio's library sends it.",
        ).toBe("application/x-www-form-urlencoded");
        const [, credentials = ""] = ours.headers["authorization"]?.split("Basic ") ?? [];
        expect(
          Buffer.from(credentials, "base64").toString(),
          "The credentials are those of Twilio's library.",
        ).toBe(`${theirs?.username}:${theirs?.password}`);
        expect(sorted(new URLSearchParams(text(ours.body)))).toEqual(flat(theirs?.data));
      }),
      { numRuns: runs(200) },
    );
  });

  test.each([
    ["message", { ...message, from: "+15005550006" }],
    ["message of a service", { ...message, from: service }],
  ])("looks up a %s as the package does", async (_, outbound) => {
    const { calls, client } = packaged();
    await client.messages.list({
      to: outbound.to,
      ...(outbound.from === service ? {} : { from: outbound.from }),
      pageSize: 20,
      limit: 20,
    });
    await client.messages(sid(7)).fetch();
    const http = line(() => answered(200, {}));
    const made: LookupContext = { ...attempt, provider_message_id: null };
    await overTwilio(http).lookup?.(outbound, made);
    await overTwilio(http).lookup?.(outbound, { ...made, provider_message_id: sid(7) });
    const ours = http.requests.map(({ url, method }) => {
      const { origin, pathname, searchParams } = new URL(url);
      return { method: method.toLowerCase(), uri: origin + pathname, params: sorted(searchParams) };
    });
    const theirs = calls.map(({ method, uri, params }) => ({ method, uri, params: flat(params) }));
    expect(ours).toEqual(theirs);
  });
});

describe("a request to Telnyx", () => {
  function packaged() {
    const calls: { url: string; method: string; headers: Headers; body: unknown }[] = [];
    const client = new Telnyx({
      apiKey: "KEY0123",
      async fetch(url, init) {
        const { method = "GET", headers, body: sentBody } = init ?? {};
        calls.push({
          url: url instanceof Request ? url.url : url.toString(),
          method: method.toUpperCase(),
          headers: new Headers(headers),
          body: typeof sentBody === "string" ? JSON.parse(sentBody) : null,
        });
        return Response.json({ data: { id: uuid(1) } });
      },
    });
    return { calls, client };
  }

  test("is the one that the package makes, for every kind of message and sender", async () => {
    await fc.assert(
      fc.asyncProperty(messages(profile), async (outbound) => {
        const { calls, client } = packaged();
        await client.messages.send({
          to: outbound.to,
          ...(outbound.from === profile ? {} : { from: outbound.from }),
          ...(outbound.from === profile || outbound.from === "Shop 24"
            ? { messaging_profile_id: profile }
            : {}),
          ...(outbound.body === "" ? {} : { text: outbound.body }),
          ...(outbound.media.length === 0
            ? {}
            : { media_urls: outbound.media.map(({ url }) => strictMediaUrl(url)) }),
          type: outbound.channel === "mms" ? "MMS" : "SMS",
          webhook_url: `${telnyxCallbacks}?attempt=${attempt.attempt_id}`,
        });
        const [theirs] = calls;
        const ours = await sent(overTelnyx, outbound);
        expect([ours.method, ours.url]).toEqual([theirs?.method, theirs?.url]);
        for (const name of ["authorization", "content-type"]) {
          expect(ours.headers[name], `The header ${name} is that of Telnyx's library.`).toBe(
            theirs?.headers.get(name),
          );
        }
        expect(JSON.parse(text(ours.body))).toEqual(theirs?.body);
      }),
      { numRuns: runs(200) },
    );
  });

  test("for a look-up is the one that the package makes", async () => {
    const { calls, client } = packaged();
    await client.messages.retrieve(uuid(7));
    const http = line(() => answered(200, {}));
    await overTelnyx(http).lookup?.(message, { ...attempt, provider_message_id: uuid(7) });
    expect(http.requests.map(({ method, url }) => [method, url])).toEqual(
      calls.map(({ method, url }) => [method, url]),
    );
  });
});

test.each([
  ["https://shop.example/a b.png", "https://shop.example/a%20b.png"],
  [
    "https://grüße.example/ü?z=ü&c[]=[|]#^#",
    "https://xn--gre-6ka8l.example/%C3%BC?z=%C3%BC&c%5B%5D=%5B%7C%5D",
  ],
  ["http://[2001:db8::1]/100%/%25%zz", "http://[2001:db8::1]/100%25/%25%25zz"],
  ["https://shop.example", "https://shop.example/"],
  ["https://shop.example/a%20b?c=d+e&f='(!)*~", "https://shop.example/a%20b?c=d+e&f=%27(!)*~"],
])("a picture's URL %s is encoded by RFC 3986", (url, expected) => {
  expect(strictMediaUrl(url)).toBe(expected);
});
