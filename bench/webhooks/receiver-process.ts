/**
 * A webhook receiver in its own process. It answers 204, but never answers requests to `/silent`.
 * Its parent sends a number and gets the arrivals once that many requests have come.
 */
import { createServer } from "node:http";

/** A request that arrived. */
export interface Arrival {
  readonly id: string;
  /** Milliseconds of the machine's monotonic clock, which all its processes share. */
  readonly at: number;
}

let arrivals: Arrival[] = [];
let wanted = Infinity;

const sendArrivals = (): void => {
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
    sendArrivals();
  });
});
process.on("message", (count: number) => {
  wanted = count;
  sendArrivals();
});
process.once("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
