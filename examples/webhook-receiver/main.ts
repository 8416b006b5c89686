/**
 * `node examples/webhook-receiver/main.ts`: an engine tells a receiver what happens. A message goes out and is answered; then somebody else
 * posts what looks like an event, and one that came is sent again.
 */
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { MessagingEngine } from "tidings";
import { httpClient } from "tidings/http-client";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";
import { system } from "tidings/system";
import { receiver } from "./receiver.ts";

const engine = new MessagingEngine({
  storage: memory(),
  transports: [sandbox()],
  ...system(),
  // Receivers are out on the Internet, but for what is named here.
  http: { client: httpClient(), allow: ["127.0.0.1"] },
});
const server = createServer();
try {
  await engine.start();
  server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
  await once(server, "listening");
  await tellStory(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`);
} finally {
  await engine.stop();
  server.close();
  server.closeAllConnections();
}

async function tellStory(url: string): Promise<void> {
  const { id, secret } = await engine.webhooks.create({
    url,
    events: ["message.sent", "message.received"],
  });
  const heard = new EventEmitter();
  const handler = receiver(secret ?? "", {
    act(event) {
      console.log(`${event.type} ${event.id}`);
      heard.emit(event.type);
    },
    again(event) {
      console.log(`${event.type} ${event.id} once more: nothing to do`);
      heard.emit("again");
    },
  });
  server.on("request", handler);

  const [delivered, answered, again] = [
    once(heard, "message.sent"),
    once(heard, "message.received"),
    once(heard, "again"),
  ];
  // A bot answers this number.
  await engine.messages.send({ to: "+15005550020", body: "Hello" });
  await Promise.all([delivered, answered]);

  const headers = {
    "webhook-id": "evt_1",
    "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
  };
  const forged = {
    method: "POST",
    headers: { ...headers, "webhook-signature": "v1,bm90IGJ5IHVz" },
    body: "{}",
  };
  console.log(`a forged one: ${(await fetch(url, forged)).status}`);

  const { data } = await engine.webhooks.deliveries(id, { event_type: "message.received" });
  for (const delivery of data) await engine.webhooks.redeliver(id, delivery.id);
  await again;
}
