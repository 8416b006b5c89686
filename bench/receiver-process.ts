/**
 * A receiver in a process of its own. It takes what is posted to it with a 204, but to `/silent` it never answers. Asked over IPC for a
 * number of arrivals, it tells when which have come.
 */
import { createServer } from "node:http";
import type { Arrival } from "./receiver.ts";

let arrivals: Arrival[] = [];
let wanted = Infinity;

const tell = (): void => {
  if (arrivals.length < wanted) return;
  process.send?.(arrivals);
  arrivals = [];
  wanted = Infinity;
};

const server = createServer((request, response) => {
  const at = Number(process.hrtime.bigint()) / 1e6;
  request.resume().once("end", () => {
    if (request.url === "/silent") return;
    arrivals.push({ id: String(request.headers["webhook-id"]), at });
    response.writeHead(204).end();
    tell();
  });
});
process.on("message", (count: number) => {
  wanted = count;
  tell();
});
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
