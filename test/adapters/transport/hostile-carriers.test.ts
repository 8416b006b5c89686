/**
 * Hostile and broken carriers, over real sockets. Their cost is limited, a message whose state is
 * unknown stays ambiguous, and nothing else is affected.
 */
import type { Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { httpClient } from "../../../adapters/http-client/index.ts";
import type { LookupAnswer, SendAnswer, Transport } from "../../../src/ports/transport.ts";
import { cases } from "../../support/runs.ts";
import { drip, flood, receiver } from "../http-client/receiver.ts";
import { attempt, message, overTelnyx, overTwilio, sid, uuid } from "./world.ts";

const head = (status: string, more = ""): string => `HTTP/1.1 ${status}\r\n${more}`;
const whole = (status: string, body: string, more = ""): string =>
  `${head(status, more)}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const json = (body: unknown): string => whole("201 Created", JSON.stringify(body));

const says = (text: string) => (socket: Socket) => void socket.write(text);

/**
 * Each with the expected outcome: `ambiguous` wherever the carrier may have accepted the message.
 */
const carriers: readonly (readonly [
  what: string,
  act: (socket: Socket) => void,
  outcome: SendAnswer["outcome"],
])[] = [
  [
    "sends a body of a gigabyte",
    (socket) => {
      socket.write(head("201 Created", "content-length: 1073741824\r\n\r\n"));
      flood(socket, "{");
    },
    "ambiguous",
  ],
  [
    "sends endless chunks",
    (socket) => {
      socket.write(head("201 Created", "transfer-encoding: chunked\r\n\r\n"));
      flood(socket, "1\r\n{\r\n");
    },
    "ambiguous",
  ],
  [
    "sends endless headers",
    (socket) => {
      socket.write(head("201 Created"));
      flood(socket, "x-y: z\r\n");
    },
    "ambiguous",
  ],
  [
    "drips",
    (socket) => {
      socket.write(head("201 Created", "content-length: 1000000\r\n\r\n"));
      drip(socket, "{");
    },
    "ambiguous",
  ],
  ["says nothing", () => {}, "ambiguous"],
  ["hangs up", (socket) => void socket.destroy(), "ambiguous"],
  ["speaks something else", says("220 mail.example ESMTP\r\n"), "ambiguous"],
  [
    "redirects to another host",
    says(whole("307 Temporary Redirect", "", "location: https://evil.example/\r\n")),
    "ambiguous",
  ],
  [
    "redirects to a private address",
    says(whole("302 Found", "", "location: http://169.254.169.254/\r\n")),
    "ambiguous",
  ],
  [
    "switches the protocol",
    says(head("101 Switching Protocols", "upgrade: x\r\nconnection: upgrade\r\n\r\n")),
    "ambiguous",
  ],
  ["answers no JSON", says(whole("201 Created", "<html>")), "ambiguous"],
  ["answers null", says(json(null)), "ambiguous"],
  ["answers a list", says(json([[]])), "ambiguous"],
  ["answers a number for the id", says(json({ sid: 7, data: { id: 7 } })), "ambiguous"],
  [
    "sends a path instead of an id",
    says(json({ sid: "../../Accounts", data: { id: "../x" } })),
    "ambiguous",
  ],
  [
    "sends a very long id",
    says(json({ sid: `SM${"a".repeat(100_000)}`, data: { id: "a".repeat(100_000) } })),
    "ambiguous",
  ],
  ["answers JSON without bottom", says(whole("201 Created", "[".repeat(200_000))), "ambiguous"],
  [
    "sends bytes that are not UTF-8",
    (socket) =>
      void socket.write(
        Buffer.concat([
          Buffer.from(head("201 Created", "content-length: 4\r\n\r\n")),
          Buffer.from([0xff, 0xfe, 0, 0x80]),
        ]),
      ),
    "ambiguous",
  ],
  ["says that it fails", says(whole("503 Service Unavailable", "{}")), "ambiguous"],
  ["says a status that is none", says(whole("999 Whatever", "{}")), "ambiguous"],
  [
    "refuses with a body of a gigabyte",
    (socket) => {
      socket.write(head("400 Bad Request", "content-length: 1073741824\r\n\r\n"));
      flood(socket, "{");
    },
    "rejected",
  ],
  [
    "refuses with codes of the wrong type",
    says(whole("400 Bad Request", '{"code":{"a":[1]},"errors":[{"code":{}}]}')),
    "rejected",
  ],
  [
    "refuses with a sentence instead of a code",
    says(whole("422 No", '{"code":"+15005550001 is bad","errors":[{"code":"x y"}]}')),
    "rejected",
  ],
  [
    "asks for an endless wait",
    says(whole("429 Slow", "{}", "retry-after: 999999999\r\n")),
    "rejected",
  ],
  ["asks to wait for nonsense", says(whole("429 Slow", "{}", "retry-after: -1e9\r\n")), "rejected"],
];

const over = { twilio: overTwilio, telnyx: overTelnyx };

async function at(port: number, name: keyof typeof over): Promise<Transport> {
  const http = httpClient();
  onTestFinished(() => {
    http.close();
  });
  return over[name](http, { apiUrl: `http://127.0.0.1:${port}` });
}

/** They say something until the attempt gives up. Both transports use the same HTTP client. */
const slow = new Set(["sends endless chunks", "drips", "says nothing"]);

describe.each(["twilio", "telnyx"] as const)("%s when the carrier", (name) => {
  const few = ([what]: (typeof carriers)[number]): boolean =>
    name === "twilio" ? !slow.has(what) || what === "says nothing" : !slow.has(what);

  test.each(cases(carriers, few))("%s", async (_, act, outcome) => {
    const deadline = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const { port, requests, open, connections } = await receiver({
      onRequest(socket) {
        act(socket);
        // Endless responses end with the attempt. A rejection is read to its end.
        if (outcome === "ambiguous") timer = setTimeout(() => deadline.abort(), 500);
      },
    });
    const transport = await at(port, name);
    const answer = await transport.send(message, { ...attempt, signal: deadline.signal });
    clearTimeout(timer);
    expect(answer.outcome).toBe(outcome);
    expect(JSON.stringify(answer).length).toBeLessThan(500);
    expect(JSON.stringify(answer)).not.toContain(message.to);
    if (answer.outcome === "rejected") {
      expect(answer.retry_after_ms ?? 0).toBeLessThanOrEqual(86_400_000);
    }
    expect(requests()).toBe(1);
    // The bytes read, plus what sockets buffer.
    for (const { bytesWritten } of connections) expect(bytesWritten).toBeLessThan(20_000_000);
    if (outcome === "ambiguous") {
      const known = { ...attempt, provider_message_id: name === "twilio" ? sid(1) : uuid(1) };
      const look = async (
        provider_message_id: string | null,
      ): Promise<LookupAnswer | undefined> => {
        const { port: again } = await receiver({
          onRequest: (socket) => {
            act(socket);
            setTimeout(() => socket.destroy(), 300);
          },
        });
        return (await at(again, name)).lookup?.(message, { ...known, provider_message_id });
      };
      for (const id of [null, known.provider_message_id]) {
        expect(await look(id)).toEqual({ outcome: "unknown" });
      }
    }
    expect(await open()).toBeLessThanOrEqual(1);
  });

  test("is unreachable", async () => {
    const transport = await at(1, name);
    const answer = await transport.send(message, attempt);
    expect(answer).toMatchObject({
      outcome: "rejected",
      permanent: false,
      error: { code: "carrier_unavailable" },
    });
  });
});

test.each([
  ["twilio", "https://api.twilio.com/2010-04-01/Accounts/"],
  ["telnyx", "https://api.telnyx.com/v2/messages"],
] as const)(
  "%s is called at its public address, and never at an internal one",
  async (name, url) => {
    const seen: unknown[] = [];
    const http = {
      send: async (request: {
        url: string;
        to: { http: boolean; hosts: Set<string>; networks: unknown[] };
      }) => {
        seen.push(
          request.to.http,
          request.to.hosts.size,
          request.to.networks.length,
          request.url.startsWith(url),
        );
        return {
          outcome: "failed",
          code: "aborted",
          message: "",
          sent: false,
          address: null,
          partial: null,
        } as const;
      },
      close() {},
    };
    await over[name](http as never).send(message, attempt);
    expect(seen).toEqual([false, 0, 0, true]);
  },
);
