import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on this machine. */
export interface Listening {
  /** Such as `http://127.0.0.1:40001`. */
  readonly url: string;
  /** Closes all connections. Resolves when the server has closed. */
  readonly close: () => Promise<void>;
}

/** Starts a server on a free port. */
export async function listen(handler: RequestListener): Promise<Listening> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
