/**
 * One of the three processes. It serves the API on the shared port and sends messages. It may be
 * killed at any time.
 */
import { createServer } from "node:http";
import { nodeHandler } from "tidings/node";
import { openEngine, type Settings } from "./engine.ts";

const engine = openEngine(JSON.parse(process.env["CLUSTER"] ?? "") as Settings);
await engine.start();
const server = createServer(nodeHandler(engine));
server.listen(Number(process.env["PORT"]), "127.0.0.1");

// A terminal sends Ctrl-C to all processes. The main process decides when this one stops.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
  void engine.stop().then(() => process.exit(0));
});
