import { createServer, type AddressInfo } from "node:net";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { postgres } from "../../../../../adapters/storage/postgres/index.ts";
import { firstSchema } from "../../notes.ts";

/** A message of the protocol from the server. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const authenticated = message("R", Buffer.alloc(4));
const ready = message("Z", Buffer.from("I"));
const killed = message(
  "E",
  Buffer.from(
    "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0",
  ),
);

test("a server that is killed just when a connection is ready does not end the process", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([authenticated, ready, killed])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const pool = new pg.Pool({ host: "127.0.0.1", port, user: "tidings", database: "tidings" });
  pool.on("error", () => {});
  onTestFinished(() => pool.end());
  // An error event without a listener would fail this test as an uncaught exception.
  await expect(postgres({ pool }).open(firstSchema)).rejects.toMatchObject({
    code: "storage_unavailable",
    retryable: true,
  });
});
