/**
 * Sends one message and waits until it is delivered.
 *
 * Over the sandbox:
 *
 *     node examples/twilio/main.ts
 *
 * Over Twilio:
 *
 *     TWILIO_ACCOUNT_SID=AC… TWILIO_AUTH_TOKEN=… TWILIO_FROM=+1… \
 *       node examples/twilio/main.ts +1…
 *
 * The client code is the same; only its API key differs. Set `PUBLIC_URL` to the URL under which
 * Twilio reaches this program, such as a tunnel's. Then receipts and inbound messages arrive at
 * once. Without it, receipts are looked up. Press Ctrl-C to stop.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { MessagingEngine } from "tidings";
import { memory } from "tidings/memory";
import { nodeHandler } from "tidings/node";
import { chooseCarrier } from "./choose-carrier.ts";
import { Client } from "./client.ts";

const carrier = chooseCarrier(process.env);
const { mode, transports } = carrier;
const engine = new MessagingEngine({ storage: memory(), transports, mode });
engine.on("message.received", ({ data }) =>
  console.log(`${data.contact.phone} writes: ${data.body}`),
);
const server = createServer(nodeHandler(engine));

const finalStatuses: ReadonlySet<string> = new Set([
  "delivered",
  "read",
  "undelivered",
  "unconfirmed",
  "failed",
  "expired",
]);
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
try {
  await engine.start();
  await carrier.createSender(engine);
  server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
  await once(server, "listening");
  process.exitCode = (await sendAndWait(process.argv[2] ?? "+15005550001")) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  server.close();
  await engine.stop();
  server.closeAllConnections();
  carrier.close();
}

/** Returns whether the message was delivered. */
async function sendAndWait(to: string): Promise<boolean> {
  const { secret } = await engine.apiKeys.create({ name: "example" });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const client = new Client(url, secret);
  console.log(`${mode} mode, API at ${url}`);

  let message = await client.send({ to, body: "Your table is ready." });
  for (let printedStatus = ""; ; message = await client.get(message.id)) {
    const { status, error } = message;
    if (status !== printedStatus) {
      console.log(`message to ${to}: ${status} ${error?.message ?? ""}`.trimEnd());
    }
    printedStatus = status;
    if (finalStatuses.has(status) || stop.signal.aborted) {
      return status === "delivered" || status === "read";
    }
    await sleep(100, undefined, { signal: stop.signal }).catch(() => {});
  }
}
