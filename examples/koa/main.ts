/**
 * Mounts the REST API beside a Koa application's own routes. Run it with `node
 * examples/koa/main.ts`.
 */
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { MessagingEngine } from "tidings";
import { koaHandler } from "tidings/koa";
import { memory } from "tidings/memory";
import { sandbox } from "tidings/sandbox";

const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
await engine.start();
const { secret } = await engine.apiKeys.create({ name: "Example" });
const message = JSON.stringify({ to: "+15005550001", body: "Hello" });

const app = new Koa();
app.use(koaHandler(engine, { basePath: "/messaging" }));
// The application's own route lists the last ten messages.
app.use(async (context) => {
  const { data } = await engine.messages.list({ limit: 10 });
  context.body = data.map(({ to, status }) => ({ to, status }));
});

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const api = `${url}/messaging/v1/messages`;
  console.log(
    `Send a message:  curl ${api} -H "Authorization: Bearer ${secret}" \\\n` +
      `                   -H "Content-Type: application/json" -d '${message}'\n` +
      `See its status:  curl ${url}/\n` +
      "Press Ctrl+C to stop.",
  );
});

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());

async function stop(): Promise<void> {
  server.close();
  await engine.stop();
  server.closeAllConnections();
}
