/**
 * Mounts the REST API beside an Express application's own routes. Run it with `node
 * examples/express/main.ts`.
 */
import type { AddressInfo } from "node:net";
import express from "express";
import { MessagingEngine } from "tidings";
import { expressHandler } from "tidings/express";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";

const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
await engine.start();
const { secret } = await engine.apiKeys.create({ name: "Example" });

const app = express();
app.use("/messaging", expressHandler(engine));
app.use(express.json());
app.post("/orders/:id/ready", async (request, response) => {
  const { id } = request.params;
  // With an idempotency key, an order that is reported twice sends one message.
  const message = await engine.messages.send(
    { to: "+15005550001", body: `Order ${id} is ready.` },
    { idempotencyKey: `order-ready-${id}` },
  );
  response.status(202).json({ message: message.id });
});

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", (error) => {
  if (error !== undefined) throw error;
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  console.log(
    `Report an order:   curl -X POST ${url}/orders/17/ready\n` +
      `See its message:   curl ${url}/messaging/v1/messages -H "Authorization: Bearer ${secret}"\n` +
      "Press Ctrl+C to stop.",
  );
});

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());

async function stop(): Promise<void> {
  server.close();
  await engine.stop();
  server.closeAllConnections();
}
