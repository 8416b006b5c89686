/**
 * One message from POST to delivered: `node examples/twilio/main.ts` on the sandbox, and over Twilio with
 * `TWILIO_ACCOUNT_SID=AC… TWILIO_AUTH_TOKEN=… TWILIO_FROM=+1… node examples/twilio/main.ts +1…`. Moving over replaces the key that the
 * client uses and nothing else. `PUBLIC_URL` is where Twilio reaches this program, through a tunnel say: then it hears of receipts, and of
 * messages that come in, at once. Ctrl-C ends.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { MessagingEngine } from "tidings";
import { memory } from "tidings/memory";
import { nodeHandler } from "tidings/node";
import { system } from "tidings/system";
import { carrierOf } from "./carrier.ts";
import { Client } from "./client.ts";

const carrier = carrierOf(process.env);
const { mode, transports } = carrier;
const engine = new MessagingEngine({ storage: memory(), transports, mode, ...system() });
engine.on("message.received", ({ data }) =>
  console.log(`${data.contact.phone} writes: ${data.body}`),
);
const server = createServer(nodeHandler(engine));

const ends: ReadonlySet<string> = new Set([
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
  await carrier.prepare(engine);
  server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
  await once(server, "listening");
  process.exitCode = (await run(process.argv[2] ?? "+15005550001")) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  server.close();
  server.closeAllConnections();
  await engine.stop();
  carrier.close();
}

/** Answers whether the message arrived. */
async function run(to: string): Promise<boolean> {
  const { secret } = await engine.apiKeys.create({ name: "example" });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;
  const client = new Client(url, secret ?? "");
  console.log(`${mode} at ${url}`);

  let message = await client.send({ to, body: "Your table is ready." });
  for (let shown = ""; ; message = await client.get(message.id)) {
    const { status, error } = message;
    if (status !== shown) console.log(`${to} ${status} ${error?.message ?? ""}`.trimEnd());
    shown = status;
    if (ends.has(status) || stop.signal.aborted) return status === "delivered" || status === "read";
    await sleep(100, undefined, { signal: stop.signal }).catch(() => {});
  }
}
