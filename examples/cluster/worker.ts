/** One of the three processes: takes requests on the port that they share, and hands messages over. It is killed at any time. */
import { createServer } from "node:http";
import { nodeHandler } from "tidings/node";
import { openEngine, type Settings } from "./engine.ts";

const engine = openEngine(JSON.parse(process.env["CLUSTER"] ?? "") as Settings);
await engine.start();
const server = createServer(nodeHandler(engine));
server.listen(Number(process.env["PORT"]), "127.0.0.1");

// Ctrl-C is sent to all processes of a terminal: the parent decides what comes of it.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
  void engine.stop().then(() => process.exit(0));
});
