import { setImmediate } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { dnsFailure, nameResolver } from "../../../adapters/http-client/dns.ts";
import { destinations } from "../../../src/ports/destinations.ts";
import { nameServer, type Answer, type NameServerOptions } from "./name-server.ts";
import { receiver, type Behavior } from "./receiver.ts";
import { client, nearby, post, seen, shortMs } from "./world.ts";

const answering: Behavior = {
  onRequest: (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
};
const closing: Behavior = {
  onRequest: (socket) =>
    socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
};
const ok = { status: 200, body: "ok", truncated: false };

/** Before the client closes an idle connection anyway. */
const soon = { timeout: 2_000 };

async function world(
  behavior: Behavior,
  told: Answer | readonly Answer[],
  options?: NameServerOptions,
) {
  const names = await nameServer({ "receiver.test": told }, options);
  const there = await receiver(behavior);
  const http = client({ dnsServers: [names.address] });
  return { names, there, http, url: `http://receiver.test:${there.port}/hook` };
}

describe("a name", () => {
  test("is resolved once for a connection, and not again while the connection is kept", async () => {
    const { names, there, http, url } = await world(answering, ["127.0.0.1"]);
    for (let i = 0; i < 3; i++) expect(seen(await http.send(post(url)))).toEqual(ok);
    expect(names.asked).toEqual(["receiver.test"]);
    expect(there.connections).toHaveLength(1);
  });

  test.each<[string, Answer, string]>([
    ["does not exist", "nothing", "dns_not_found"],
    ["has no address", [], "dns_not_found"],
    ["can't be looked up", "failure", "dns_failed"],
    ["may have an address that can't be looked up", "doubt", "dns_failed"],
    ["is looked up for too long", "silence", "dns_timeout"],
  ])("that %s", async (_, told, code) => {
    const { there, http, url } = await world(answering, told);
    const outcome = await http.send(
      post(url, { deadline_ms: code === "dns_timeout" ? shortMs : 20_000 }),
    );
    expect(seen(outcome)).toEqual({ code, sent: false });
    expect(there.connections).toEqual([]);
  });

  test.each<[string, string, object]>([
    ["is reached at its IPv4 address", "127.0.0.1", ok],
    [
      "is rejected if its IPv4 address leads inside",
      "10.0.0.7",
      { code: "address_forbidden", sent: false },
    ],
  ])(
    "whose DNS servers do not answer queries for IPv6 addresses %s",
    async (_, address, expected) => {
      const { http, url } = await world(answering, [address], {
        beforeAAAA: new Promise(() => {}),
      });
      expect(seen(await http.send(post(url, { deadline_ms: 5_000 })))).toEqual(expected);
    },
  );

  test("has its IPv6 addresses too if they arrive later than its IPv4 addresses", async () => {
    const told = ["192.0.2.1", "2001:db8::1"];
    const { promise: beforeAAAA, resolve: answerAAAA } = Promise.withResolvers<void>();
    const names = await nameServer({ "receiver.test": told }, { beforeAAAA });
    const resolve = nameResolver([names.address]);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const found = resolve("receiver.test", nearby(), new AbortController().signal);
    // The wait begins once the IPv4 addresses are known.
    for (let i = 0; i < 100_000 && vi.getTimerCount() === 0; i++) await setImmediate();
    vi.advanceTimersByTime(499);
    answerAAAA();
    expect(await found).toEqual(told);
  });

  test.each([
    ["that leads inside", ["10.0.0.7"]],
    ["that leads to allowed and other addresses", ["127.0.0.1", "10.0.0.7"]],
    ["that leads to allowed and other addresses of another family", ["127.0.0.1", "fd00:ec2::254"]],
    ["that leads to the metadata of a cloud", ["169.254.169.254"]],
    ["that leads to an IPv4 address in disguise", ["::ffff:7f00:1"]],
  ])("%s is rejected, and the error does not show its addresses", async (_, told) => {
    const { there, http, url } = await world(answering, told);
    const outcome = await http.send(post(url));
    expect(seen(outcome)).toEqual({ code: "address_forbidden", sent: false });
    expect(outcome.address).toBeNull();
    expect(JSON.stringify(outcome)).not.toMatch(/10\.0\.0|169\.254|fd00|7f00/);
    expect(there.connections).toEqual([]);
  });

  test("that resolves to another address is checked again for the next connection", async () => {
    const { there, http, url } = await world(closing, [["127.0.0.1"], ["10.0.0.7"]]);
    expect(seen(await http.send(post(url)))).toEqual(ok);
    expect(seen(await http.send(post(url)))).toEqual({ code: "address_forbidden", sent: false });
    expect(there.requests()).toBe(1);
  });

  test("does not share the connections of another name with the same address", async () => {
    const names = await nameServer({ "a.test": ["127.0.0.1"], "b.test": ["127.0.0.1"] });
    const there = await receiver(answering);
    const http = client({ dnsServers: [names.address] });
    for (const host of ["a.test", "b.test", "a.test"]) {
      expect(seen(await http.send(post(`http://${host}:${there.port}/`)))).toEqual(ok);
    }
    expect(there.connections).toHaveLength(2);
  });

  test("with an unreachable address is tried at its other addresses", async () => {
    const { http, url } = await world(answering, ["127.0.0.2", "127.0.0.1"]);
    const outcome = await http.send(post(url));
    expect(seen(outcome)).toEqual(ok);
    expect(outcome.address).toBe("127.0.0.1");
  });

  test("that the host application allows is resolved by the system, and may have a private address", async () => {
    const names = await nameServer({});
    const there = await receiver(answering);
    const http = client({ dnsServers: [names.address] });
    const url = `http://localhost:${there.port}/`;
    const allowed = destinations({ http: true, allow: ["localhost"] });
    expect(seen(await http.send(post(url, { to: allowed })))).toEqual(ok);
    expect(seen(await http.send(post(url, { to: nearby() })))).toEqual({
      code: "host_forbidden",
      sent: false,
    });
    expect(names.asked).toEqual([]);
  });
});

describe("a kept connection", () => {
  test("is not used for a request whose destinations forbid its address", async () => {
    const { there, http, url } = await world(answering, ["127.0.0.1"]);
    expect(seen(await http.send(post(url)))).toEqual(ok);
    const outcome = await http.send(post(url, { to: destinations({ http: true }) }));
    expect(seen(outcome)).toEqual({ code: "address_forbidden", sent: false });
    expect(there.requests()).toBe(1);
  });

  test("that turns out to be closed fails the request, which is not sent a second time", async () => {
    const { there, http, url } = await world(
      {
        onRequest: (socket, nth) => {
          if (nth === 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
          else socket.end();
        },
      },
      ["127.0.0.1"],
    );
    expect(seen(await http.send(post(url)))).toEqual(ok);
    expect(seen(await http.send(post(url)))).toEqual({ code: "kept_connection_lost", sent: true });
    expect(there.requests()).toBe(2);
  });

  test("is not used for a request that wants its own, which is closed after it", async () => {
    const { there, http, url } = await world(answering, ["127.0.0.1"]);
    expect(seen(await http.send(post(url)))).toEqual(ok);
    expect(seen(await http.send(post(url, { own_connection: true })))).toEqual(ok);
    expect(there.connections).toHaveLength(2);
    await expect
      .poll(() => there.connections.map(({ destroyed }) => destroyed), soon)
      .toEqual([false, true]);
    expect(seen(await http.send(post(url)))).toEqual(ok);
    expect(there.connections).toHaveLength(2);
  });

  test("that receives data without a request is closed, and the data is not taken for a response", async () => {
    const { there, http, url } = await world(answering, ["127.0.0.1"]);
    expect(seen(await http.send(post(url)))).toEqual(ok);
    there.connections[0]?.write("HTTP/1.1 500 Poison\r\nContent-Length: 0\r\n\r\n");
    await expect.poll(() => there.connections[0]?.destroyed, soon).toBe(true);
    expect(seen(await http.send(post(url)))).toEqual(ok);
    expect(there.connections).toHaveLength(2);
  });

  test("is closed at its maximum age even when busy, so that its name is resolved again", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { names, there, http, url } = await world(answering, ["127.0.0.1"]);
    for (let i = 0; i < 3; i++) {
      expect(seen(await http.send(post(url)))).toEqual(ok);
      vi.advanceTimersByTime(40_000);
    }
    expect(there.connections).toHaveLength(1);
    expect(seen(await http.send(post(url)))).toEqual(ok);
    expect(there.connections).toHaveLength(2);
    expect(names.asked).toHaveLength(2);
  });

  test("is closed with the client, which can open new ones afterwards", async () => {
    const { there, http, url } = await world(answering, ["127.0.0.1"]);
    expect(seen(await http.send(post(url)))).toEqual(ok);
    http.close();
    await expect.poll(() => there.connections[0]?.destroyed, soon).toBe(true);
    expect(seen(await http.send(post(url)))).toEqual(ok);
  });
});

test("a missing name is recognized in Jest, which has an `Error` of its own", () => {
  const error: unknown = runInNewContext('Object.assign(new Error(), { code: "ENOTFOUND" })');
  expect(error).not.toBeInstanceOf(Error);
  expect(dnsFailure(error).code).toBe("dns_not_found");
});
