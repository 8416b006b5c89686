import type { TlsOptions } from "node:tls";
import { beforeAll, describe, expect, test } from "vitest";
import type { HttpRequest } from "../../../src/ports/http-client.ts";
import { cases } from "../../support/runs.ts";
import { authority, selfSigned, trust, type Authority, type Identity } from "./authority.ts";
import { nameServer } from "./name-server.ts";
import { receiver, type Behavior } from "./receiver.ts";
import { client, post, seen, shortMs } from "./world.ts";

const name = "receiver.example.org";
const answering: Behavior = {
  onRequest: (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
};

let known: Authority;
let unknown: Authority;

beforeAll(async () => {
  const trusted = await authority("A root");
  trust(trusted.cert);
  known = trusted;
  unknown = await authority("Another root");
});

/** Sends one request over TLS to a receiver with this certificate, by this host name. */
async function exchangeWith(
  secure: TlsOptions,
  behavior = answering,
  over: Partial<HttpRequest> = {},
) {
  const names = await nameServer({ [name]: ["127.0.0.1"] });
  const there = await receiver(behavior, secure);
  const outcome = await client({ dnsServers: [names.address] }).send(
    post(`https://${name}:${there.port}/hook`, over),
  );
  return { there, outcome };
}

describe("over TLS", () => {
  test("a receiver with a valid certificate gets the request under its host name", async () => {
    const { there, outcome } = await exchangeWith({ ...(await known.issue(name)) });
    expect(seen(outcome)).toEqual({ status: 200, body: "ok", truncated: false });
    expect(there.connections[0]).toMatchObject({ servername: name });
    expect(there.heard()).toMatch(`Host: ${name}:${there.port}`);
  });

  test("a receiver that is silent after the handshake counts as having received the request", async () => {
    const silent: Behavior = { onRequest: () => {} };
    const { there, outcome } = await exchangeWith({ ...(await known.issue(name)) }, silent, {
      deadline_ms: shortMs,
    });
    expect(seen(outcome)).toEqual({ code: "response_timeout", sent: true });
    expect(there.requests()).toBe(1);
  });

  test("a dot at the end of the host name changes nothing", async () => {
    const names = await nameServer({ [name]: ["127.0.0.1"] });
    const there = await receiver(answering, { ...(await known.issue(name)) });
    const outcome = await client({ dnsServers: [names.address] }).send(
      post(`https://${name}.:${there.port}/hook`),
    );
    expect(seen(outcome)).toEqual({ status: 200, body: "ok", truncated: false });
  });

  test.each<[string, () => Promise<Identity>, string]>([
    ["that has expired", () => known.issue(name, { from: -10, to: -1 }), "tls_expired"],
    ["that is not valid yet", () => known.issue(name, { from: 1, to: 10 }), "tls_not_yet_valid"],
    ["of its own", () => selfSigned(name), "tls_self_signed"],
    ["of an unknown authority", () => unknown.issue(name), "tls_untrusted"],
    ["of another name", () => known.issue("other.example.org"), "tls_wrong_name"],
  ])(
    "a certificate %s is refused before any byte of the request is sent",
    async (_, identity, code) => {
      const { there, outcome } = await exchangeWith({ ...(await identity()) });
      expect(seen(outcome)).toEqual({ code, sent: false });
      await expect.poll(() => there.open()).toBe(0);
      expect(there.heard()).toBe("");
    },
  );

  test("no environment variable turns certificate verification off", async () => {
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const { outcome } = await exchangeWith({ ...(await selfSigned(name)) });
      expect(seen(outcome)).toEqual({ code: "tls_self_signed", sent: false });
    } finally {
      delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    }
  });

  test("TLS versions before 1.2 are refused", async () => {
    const old = {
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
      ciphers: "DEFAULT@SECLEVEL=0",
    } as const;
    const { outcome } = await exchangeWith({ ...(await known.issue(name)), ...old });
    expect(seen(outcome)).toEqual({ code: "tls_failed", sent: false });
  });

  const handshakes: readonly (readonly [string, Behavior, string])[] = [
    ["that stalls", {}, "tls_timeout"],
    [
      "that breaks off",
      { onConnect: (socket) => socket.once("data", () => socket.resetAndDestroy()) },
      "tls_reset",
    ],
    ["that ends", { onConnect: (socket) => socket.once("data", () => socket.end()) }, "tls_closed"],
    [
      "that is none",
      { onConnect: (socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n") },
      "tls_failed",
    ],
  ];

  test.each(cases(handshakes, ([what]) => what !== "that stalls"))(
    "a handshake %s",
    async (_, behavior, code) => {
      const there = await receiver(behavior);
      const request = post(`https://127.0.0.1:${there.port}/`, {
        deadline_ms: code === "tls_timeout" ? shortMs : 20_000,
      });
      expect(seen(await client().send(request))).toEqual({ code, sent: false });
    },
  );
});
