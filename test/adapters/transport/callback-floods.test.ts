/**
 * Forged callbacks, over real sockets: they cost little, are logged, and do not delay other
 * requests.
 */
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { nodeHandler } from "../../../adapters/http/node.ts";
import { memory } from "../../../adapters/storage/memory/index.ts";
import type { CallbackRequest, Transport } from "../../../src/ports/transport.ts";
import { carrier } from "../../support/engines/carrier.ts";
import { world } from "../../support/engines/world.ts";
import { listening } from "../../support/listening.ts";
import { isLong, longTest } from "../../support/runs.ts";
import { answered, fromTwilio, line, overTwilio, sid } from "./world.ts";

const hello = { to: "+15005551000", body: "Hello" };
const from = "+15005550006";

async function serving(transport: Transport, ...others: readonly Transport[]) {
  const { clock, started, log } = world();
  const one = await started(memory(), { transports: [transport, ...others], mode: "live" });
  await one.senders.create({ address: from, channels: ["sms"], transport: transport.name });
  const port = await listening(nodeHandler(one, { basePath: "/api" }));
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  onTestFinished(() => agent.destroy());
  /** Resolves with the status, or with null when the connection was closed. */
  const call = ({
    url,
    headers,
    body,
  }: Pick<CallbackRequest, "url" | "headers" | "body">): Promise<number | null> =>
    new Promise((resolve) => {
      const asked = request(
        { port, agent, method: "POST", path: url, headers: { ...headers } },
        (response) => {
          response.resume().on("end", () => resolve(response.statusCode ?? null));
        },
      );
      asked.on("error", () => resolve(null)).end(body);
    });
  return { clock, engine: one, log, port, call };
}

const delivered = fromTwilio([
  ["MessageSid", sid(5)],
  ["MessageStatus", "delivered"],
]);

test("a flood of forged callbacks is refused, logged in one line, and does not delay a genuine one", async () => {
  const { clock, engine, log, call } = await serving(
    overTwilio(line(() => answered(201, { sid: sid(5) }))),
  );
  const { id } = await engine.messages.send(hello);
  await clock.settle();
  const forged = { ...delivered, headers: { ...delivered.headers, "x-twilio-signature": "x" } };
  const count = isLong ? 1_000 : 100;
  const flood = Array.from({ length: count }, () => call(forged));
  const honest = await call(delivered);
  const statuses = await Promise.all(flood);
  expect([honest, (await engine.messages.get(id)).status]).toEqual([204, "delivered"]);
  expect(new Set(statuses)).toEqual(new Set([403]));
  const told = (): object[] =>
    log.filter(({ message }) => message === "callbacks were refused").map(({ facts }) => facts);
  expect(told()).toEqual([{ transport: "twilio", callbacks: 1, codes: ["invalid_signature"] }]);
  await clock.advance(60_000);
  await call(forged);
  expect(told()[1]).toEqual({
    transport: "twilio",
    callbacks: count,
    codes: ["invalid_signature"],
  });
  expect(JSON.stringify(log)).not.toContain(hello.to);
});

test("an endless body is read only up to the size limit of callbacks", async () => {
  const { port, call } = await serving(overTwilio(line(() => answered(201, { sid: sid(5) }))));
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`POST ${delivered.url} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`);
  const piece = `4000\r\n${"a".repeat(0x4000)}\r\n`;
  const write = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on("drain", write);
  write();
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
  // The bytes read until then, plus what sockets buffer.
  expect(socket.bytesWritten).toBeLessThan(20_000_000);
  socket.destroy();
  const huge = { ...delivered, body: Buffer.alloc(131_073, "a") };
  expect(await call(huge)).toBe(413);
});

test("slow bodies do not delay other requests", async () => {
  const { clock, engine, port, call } = await serving(
    overTwilio(line(() => answered(201, { sid: sid(5) }))),
  );
  const { id } = await engine.messages.send(hello);
  await clock.settle();
  const drips = Array.from({ length: isLong ? 400 : 100 }, () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`POST ${delivered.url} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\na`);
    return socket;
  });
  onTestFinished(() => {
    for (const socket of drips) socket.destroy();
  });
  await Promise.all(drips.map((socket) => once(socket, "connect")));
  expect([await call(delivered), (await engine.messages.get(id)).status]).toEqual([
    204,
    "delivered",
  ]);
});

test("the number of callbacks in progress is limited: the carrier is asked to retry, and other requests continue", async () => {
  let goOn = (): void => {};
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  let most = 0;
  let now = 0;
  const transport: Transport = {
    ...carrier({ name: "slow", modes: ["live"] }),
    async parseCallback() {
      most = Math.max(most, ++now);
      await gate;
      now--;
      return { receipts: [], inbound: [], response: { status: 204 } };
    },
  };
  const { engine, port, clock } = await serving(transport);
  const call = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/api/v1/transports/slow/callbacks`, {
      method: "POST",
      body: "x",
    });
  const flood = Array.from({ length: 300 }, call);
  const refused = await Promise.race(flood);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toMatchObject({ code: "overloaded", retryable: true });
  const { id } = await engine.messages.send(hello);
  await clock.settle();
  expect((await engine.messages.get(id)).status).toBe("sent");
  goOn();
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect([statuses.filter((each) => each === 204).length, most]).toEqual([256, 256]);
  expect((await call()).status).toBe(204);
});

longTest(
  "a transport that hangs keeps each callback for 25 seconds, and does not block those of another transport",
  async () => {
    let isHung = true;
    const hung: Transport = {
      ...carrier({ name: "hung", modes: ["live"] }),
      parseCallback: () =>
        isHung
          ? new Promise(() => {})
          : Promise.resolve({ receipts: [], inbound: [], response: { status: 204 } }),
    };
    const { clock, engine, log, port, call } = await serving(
      overTwilio(line(() => answered(201, { sid: sid(5) }))),
      hung,
    );
    const { id } = await engine.messages.send(hello);
    await clock.settle();
    const callHung = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/api/v1/transports/hung/callbacks`, {
        method: "POST",
        body: "x",
      });
    const flood = Array.from({ length: 257 }, callHung);
    expect((await Promise.race(flood)).status).toBe(503);
    expect([await call(delivered), (await engine.messages.get(id)).status]).toEqual([
      204,
      "delivered",
    ]);
    await clock.advance(25_000);
    const late = (await Promise.all(flood)).filter(({ status }) => status === 500);
    expect(late).toHaveLength(256);
    expect(await late[0]?.json()).toMatchObject({ code: "internal", retryable: true });
    expect(log).toContainEqual({
      level: "warn",
      message: "callbacks were refused",
      facts: { transport: "hung", callbacks: 1, codes: ["overloaded"] },
    });
    isHung = false;
    expect((await callHung()).status).toBe(204);
  },
);
