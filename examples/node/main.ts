/** Serves the REST API with `node:http`, under a path. Run it with `node examples/node/main.ts`. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { MessagingEngine } from "tidings";
import { memory } from "tidings/memory";
import { nodeHandler } from "tidings/node";
import { sandbox } from "tidings/sandbox";

const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
await engine.start();
const { secret } = await engine.apiKeys.create({ name: "Example" });
const message = JSON.stringify({ to: "+15005550001", body: "Hello" });

const server = createServer(nodeHandler(engine, { basePath: "/messaging" }));
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  const api = `http://127.0.0.1:${port}/messaging/v1/messages`;
  console.log(
    `Send a message:  curl ${api} -H "Authorization: Bearer ${secret}" \\\n` +
      `                   -H "Content-Type: application/json" -d '${message}'\n` +
      `See its status:  curl ${api} -H "Authorization: Bearer ${secret}"\n` +
      "Press Ctrl+C to stop.",
  );
});

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());

async function stop(): Promise<void> {
  server.close();
  await engine.stop();
  server.closeAllConnections();
}
