/** Serves the REST API with `node:http`, under a path. Run it with `node examples/node/main.ts`. */
import { createServer } from "node:http";
import { MessagingEngine } from "tidings";
import { memory } from "tidings/memory";
import { nodeHandler } from "tidings/node";
import { sandbox } from "tidings/sandbox";

const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
await engine.start();
const { secret } = await engine.apiKeys.create({ name: "Example" });

const server = createServer(nodeHandler(engine, { basePath: "/messaging" }));
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : address;
  console.log(
    `curl http://127.0.0.1:${port}/messaging/v1/messages -H "Authorization: Bearer ${secret}"`,
  );
});

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());

async function stop(): Promise<void> {
  server.close();
  await engine.stop();
  server.closeAllConnections();
}
