/** Over real sockets and time: each failure of a receiver is recorded with its own error code. */
import { describe, expect, onTestFinished, test } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { system } from "../../adapters/system/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { silent } from "../../src/ports/logger.ts";
import type { DeliveryWithBody } from "../../src/webhooks/deliveries/delivery-types.ts";
import type { EventPattern } from "../../src/webhooks/event-patterns.ts";
import { drip, flood, receiver, type Behavior } from "../adapters/http-client/receiver.ts";
import { client } from "../adapters/http-client/world.ts";
import { isGenuine } from "./receivers.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const says = (text: string | Uint8Array): Behavior => ({
  onRequest: (socket) => socket.write(text),
});

/** An engine that may call this machine, with a deadline of one second. */
async function sending(storage = memory(), allow = ["127.0.0.0/8"]): Promise<MessagingEngine> {
  const http = { client: client(), allow };
  const failures: object[] = [];
  const logger = { ...silent, error: (facts: object) => void failures.push(facts) };
  const engine = new MessagingEngine({
    ...system(),
    logger,
    storage,
    transports: [sandbox()],
    http,
    webhooks: { deadlineSeconds: 1 },
  });
  onTestFinished(async () => {
    await engine.stop({ deadlineMs: 100 });
    expect(failures).toEqual([]);
  });
  await engine.start();
  return engine;
}

const events: EventPattern[] = ["message.received"];
const at = (port: number, path = "hook"): string => `http://127.0.0.1:${port}/${path}`;

/** A webhook's only delivery, once its first attempt is recorded. */
async function attempted(
  { webhooks }: MessagingEngine,
  webhook: string,
): Promise<DeliveryWithBody> {
  const look = async (): Promise<DeliveryWithBody | undefined> => {
    const [newest] = (await webhooks.deliveries(webhook)).data;
    return newest && webhooks.delivery(webhook, newest.id);
  };
  await expect.poll(async () => (await look())?.attempts.length, { interval: 10 }).toBe(1);
  const delivery = await look();
  if (delivery === undefined) throw new Error("no delivery");
  return delivery;
}

describe("an attempt", () => {
  test("does not fail if the server closes a kept connection when it gets the request", async () => {
    const engine = await sending();
    const there = await receiver({
      onRequest: (socket, nth) => {
        if (nth === 2) socket.destroy();
        else socket.write(ok);
      },
    });
    const { id } = await engine.webhooks.create({ url: at(there.port), events });
    const delivered = async () =>
      (await engine.webhooks.deliveries(id)).data.map(({ status, attempts }) => [
        status,
        attempts.map(({ error }) => error),
      ]);
    const one = ["succeeded", [null]];
    await engine.sandbox.event({ type: "message.received" });
    await expect.poll(delivered, { interval: 10 }).toEqual([one]);
    await engine.sandbox.event({ type: "message.received" });
    await expect.poll(delivered, { interval: 10 }).toEqual([one, one]);
    expect(there.requests()).toBe(3);
  });

  test("has the headers of the webhook, also if one replaces a header of the engine", async () => {
    const engine = await sending();
    let received = "";
    const there = await receiver({
      onConnect: (socket) => socket.on("data", (bytes: Buffer) => (received += bytes.toString())),
      onRequest: (socket) => socket.write(ok),
    });
    const headers = { "User-Agent": "shop/1", "X-Tenant": "7" };
    const { id } = await engine.webhooks.create({ url: at(there.port), events, headers });
    await engine.sandbox.event({ type: "message.received" });
    await attempted(engine, id);
    expect(received.match(/^(?:user-agent|x-tenant):.*$/gim)).toEqual([
      "User-Agent: shop/1",
      "X-Tenant: 7",
    ]);
  });

  const outcomes: [name: string, behavior: Behavior, expected: object][] = [
    [
      "that succeeds",
      says(ok),
      { error: null, status_code: 200, response_body: "ok", response_body_encoding: "utf-8" },
    ],
    [
      "without a response",
      { onRequest: () => {} },
      { error: "response_timeout", status_code: null, response_body: null },
    ],
    [
      "that is reset",
      { onRequest: (socket) => socket.resetAndDestroy() },
      { error: "response_reset", status_code: null },
    ],
    [
      "whose response body is cut off",
      { onRequest: (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal") },
      { error: "body_closed", status_code: 200, response_body: "hal" },
    ],
    [
      "that gets its headers byte by byte",
      {
        onRequest: (socket) => {
          socket.write("HTTP/1.1 200 OK\r\nX-Long: ");
          drip(socket, "a");
        },
      },
      { error: "response_timeout", status_code: null },
    ],
    [
      "that gets its body byte by byte",
      {
        onRequest: (socket) => {
          socket.write("HTTP/1.1 200 OK\r\n\r\n");
          drip(socket, "a");
        },
      },
      { error: "body_timeout", status_code: 200 },
    ],
    [
      "that gets endless chunks",
      {
        onRequest: (socket) => {
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
          flood(socket, `1000\r\n${"a".repeat(4_096)}\r\n`);
        },
      },
      {
        error: null,
        status_code: 200,
        response_body: "a".repeat(16_384),
        response_truncated: true,
      },
    ],
    [
      "that gets endless interim responses",
      { onRequest: (socket) => flood(socket, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") },
      { error: "response_too_long", status_code: null },
    ],
    ["that gets garbage", says("SSH-2.0-OpenSSH_9.6\r\n"), { error: "response_malformed" }],
    [
      "that gets status 999",
      says("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"),
      { error: "status_not_2xx", status_code: 999 },
    ],
    [
      "that gets a protocol switch",
      says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
      { error: "protocol_switched" },
    ],
    [
      "that gets a redirect",
      says("HTTP/1.1 307 Away\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
      {
        error: "redirected",
        status_code: 307,
        response_headers: { location: "http://169.254.169.254/", "content-length": "0" },
      },
    ],
    [
      "that gets 20 KiB of headers",
      says(`HTTP/1.1 200 OK\r\nX-Long: ${"a".repeat(20_480)}\r\nContent-Length: 0\r\n\r\n`),
      { error: "response_headers_too_large" },
    ],
    [
      "that gets a binary body",
      says(
        Buffer.concat([
          Buffer.from("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\n"),
          Buffer.from([97, 255]),
        ]),
      ),
      {
        error: "status_not_2xx",
        status_code: 500,
        response_body: "Yf8=",
        response_body_encoding: "base64",
      },
    ],
    [
      "that gets text with a NUL",
      says("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\na\0"),
      { error: "status_not_2xx", response_body: "YQA=", response_body_encoding: "base64" },
    ],
  ];

  test("is recorded with its own error code, and the engine keeps sending", async () => {
    const engine = await sending();
    const there = await Promise.all(outcomes.map(([, behavior]) => receiver(behavior)));
    const made = [];
    for (const { port } of there) {
      made.push(await engine.webhooks.create({ url: at(port), events }));
    }
    // Nothing listens on port 1 (tcpmux).
    const refused = await engine.webhooks.create({ url: at(1), events });
    const { id: event_id } = await engine.sandbox.event({ type: "message.received" });
    for (const [i, [name, , expected]] of outcomes.entries()) {
      const { attempts } = await attempted(engine, made[i]?.id ?? "");
      expect(attempts, name).toMatchObject([
        { number: 1, manual: false, address: "127.0.0.1", ...expected },
      ]);
      expect(there[i]?.requests(), name).toBe(1);
    }
    expect((await attempted(engine, refused.id)).attempts).toMatchObject([
      { error: "connect_refused", address: null },
    ]);

    const [head = "", body = ""] = there[0]?.heard().split("\r\n\r\n") ?? [];
    const headers = Object.fromEntries(
      head
        .split("\r\n")
        .slice(1)
        .map((line) => line.split(": ")),
    );
    expect(headers).toMatchObject({
      "webhook-id": event_id,
      "accept-encoding": "identity",
      "content-type": "application/json",
    });
    expect(
      isGenuine(
        { url: "", at: 0, elapsed: 0, after: 0, id: event_id, headers, body },
        made[0]?.secret ?? "",
      ),
    ).toBe(true);
    await engine.sandbox.event({ type: "message.received" });
    await expect.poll(() => there[0]?.requests()).toBe(2);
  });

  test("tolerates a receiver that rotates or deletes its own webhook", async () => {
    const engine = await sending();
    const { webhooks } = engine;
    const ids: string[] = [];
    const done: Promise<unknown>[] = [];
    const rotating = await receiver({
      onRequest: (socket) =>
        void done.push(webhooks.rotateSecret(ids[0] ?? "").then(() => socket.write(ok))),
    });
    const deleting = await receiver({
      onRequest: (socket) =>
        void done.push(webhooks.remove(ids[1] ?? "").then(() => socket.write(ok))),
    });
    const deleted = await receiver({
      onRequest: (socket) =>
        void done.push(webhooks.remove(ids[2] ?? "").then(() => socket.resetAndDestroy())),
    });
    for (const { port } of [rotating, deleting, deleted]) {
      ids.push((await webhooks.create({ url: at(port), events })).id);
    }
    await engine.sandbox.event({ type: "message.received" });
    expect(await attempted(engine, ids[0] ?? "")).toMatchObject({ status: "succeeded" });
    await expect
      .poll(async () => (await webhooks.list()).data.map(({ id }) => id))
      .toEqual([ids[0]]);
    await engine.sandbox.event({ type: "message.received" });
    await expect.poll(() => rotating.requests()).toBe(2);
    await Promise.all(done);
    expect([deleting.requests(), deleted.requests()]).toEqual([1, 1]);
  });

  test("tolerates a receiver that causes new messages: each is delivered once", async () => {
    const engine = await sending();
    let told = 0;
    const there = await receiver({
      onRequest: (socket) => {
        told++;
        const write =
          told <= 5
            ? engine.sandbox.inbound({ from: "+15550000001", body: `echo ${told}` })
            : undefined;
        void Promise.resolve(write).then(() => socket.write(ok));
      },
    });
    const { id } = await engine.webhooks.create({ url: at(there.port), events });
    await engine.sandbox.inbound({ from: "+15550000001", body: "hello" });
    await expect
      .poll(async () => (await engine.webhooks.deliveries(id, { status: "succeeded" })).data.length)
      .toBe(6);
    expect(there.requests()).toBe(6);
  });

  test("that gets 410 is followed only by requests already under way, and by one event", async () => {
    const engine = await sending();
    const there = await receiver(says("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"));
    const { id } = await engine.webhooks.create({ url: at(there.port), events });
    await Promise.all(
      Array.from({ length: 20 }, () => engine.sandbox.event({ type: "message.received" })),
    );
    await expect.poll(async () => (await engine.webhooks.get(id)).status).toBe("disabled");
    const requests = there.requests();
    expect(requests).toBeLessThanOrEqual(8);
    await engine.sandbox.event({ type: "message.received" });
    const all = (await engine.events.list({ limit: 100 })).data;
    expect(all.filter(({ type }) => type === "webhook.disabled")).toHaveLength(1);
    expect(
      (await engine.webhooks.deliveries(id, { status: "parked", limit: 50 })).data,
    ).toHaveLength(21 - requests);
    expect(there.requests()).toBe(requests);
  });

  test("is refused if its address is no longer on the allow list", async () => {
    const storage = memory();
    const there = await receiver(says(ok));
    const before = await sending(storage);
    const { id } = await before.webhooks.create({ url: at(there.port), events });
    await before.stop();
    const after = await sending(storage, []);
    await after.sandbox.event({ type: "message.received" });
    expect((await attempted(after, id)).attempts).toMatchObject([
      { error: "address_forbidden", address: null },
    ]);
    expect(there.connections).toEqual([]);
  });
});
