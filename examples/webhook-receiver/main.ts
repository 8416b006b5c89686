/**
 * `node examples/webhook-receiver/main.ts` runs an engine and a webhook receiver. A message is
 * delivered and answered, and the receiver gets both events. Then it refuses a forged event, and
 * recognizes an event that is sent a second time.
 */
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { MessagingEngine } from "tidings";
import { httpClient } from "tidings/http-client";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";
import { receiver } from "./receiver.ts";

const engine = new MessagingEngine({
  storage: memory(),
  transports: [sandbox()],
  // Webhooks may call public addresses only, plus the exceptions listed here.
  http: { client: httpClient(), allow: ["127.0.0.1"] },
});
const server = createServer();
try {
  await engine.start();
  server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
  await once(server, "listening");
  await runDemo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`);
} finally {
  await engine.stop();
  server.close();
  server.closeAllConnections();
}

async function runDemo(url: string): Promise<void> {
  const { id, secret } = await engine.webhooks.create({
    url,
    events: ["message.sent", "message.received"],
  });
  const received = new EventEmitter();
  const handler = receiver(secret, {
    onEvent(event) {
      console.log(`received ${event.type} ${event.id}`);
      received.emit(event.type);
    },
    onDuplicate(event) {
      console.log(`received ${event.type} ${event.id} again: already handled`);
      received.emit("duplicate");
    },
  });
  server.on("request", handler);

  const messageDelivered = once(received, "message.sent");
  const replyReceived = once(received, "message.received");
  const duplicateReceived = once(received, "duplicate");
  // In the sandbox, a bot behind this number answers every message.
  await engine.messages.send({ to: "+15005550020", body: "Hello" });
  await Promise.all([messageDelivered, replyReceived]);

  const forged = await fetch(url, {
    method: "POST",
    headers: {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
      "webhook-signature": `v1,${Buffer.from("wrong signature").toString("base64")}`,
    },
    body: "{}",
  });
  console.log(`refused a forged event: ${forged.status}`);

  const { data } = await engine.webhooks.deliveries(id, { event_type: "message.received" });
  for (const delivery of data) await engine.webhooks.redeliver(id, delivery.id);
  await duplicateReceived;
}
