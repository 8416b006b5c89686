/** Takes a port of this machine. Connections from elsewhere are not accepted. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { memberOf } from "../../../src/kernel/index.ts";
import { Failure, systemCode } from "../failures.ts";

const host = "127.0.0.1";

export const maxPort = 65_535;

/** A port that is taken, and the requests to it. */
export class Listener {
  readonly port: number;
  readonly #server: Server;
  readonly #handler = Promise.withResolvers<RequestListener>();

  constructor(server: Server) {
    const address = server.address();
    this.port = typeof address === "object" && address !== null ? address.port : 0;
    this.#server = server;
    // Requests that come before the engine has started wait for it.
    server.on("request", (request, response) => {
      void this.#handler.promise.then((handle) => handle(request, response));
    });
  }

  /** Passes all requests to a handler, also those that wait. */
  serve(handle: RequestListener): void {
    this.#handler.resolve(handle);
  }

  /** Accepts no more connections. */
  close(): void {
    this.#server.close();
  }

  /** Ends the connections that clients keep open. */
  disconnect(): void {
    this.#server.closeAllConnections();
  }
}

/**
 * Listens on a port, or on a free one for 0.
 * @throws Failure when the port is in use or not allowed
 */
export async function listen(port: number): Promise<Listener> {
  const server = createServer();
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw await failureOf(error, port);
  }
  return new Listener(server);
}

async function failureOf(error: unknown, port: number): Promise<unknown> {
  switch (systemCode(error)) {
    case "EADDRINUSE":
      return portInUse(port, await isTidings(port));
    case "EACCES":
      return new Failure(
        `Port ${port} is not allowed for this user.`,
        "To use another port:  tidings dev --port 4010",
      );
    default:
      return error;
  }
}

function portInUse(port: number, isOurs: boolean): Failure {
  const other = `To use another port:  tidings dev --port ${port === maxPort ? 0 : port + 1}`;
  if (!isOurs) return new Failure(`Port ${port} is in use by another program.`, other);
  return new Failure(
    `Port ${port} is in use by another tidings.`,
    `It is at http://localhost:${port}`,
    other,
  );
}

/** How long another server may take to say what it is, in milliseconds. */
const probeMs = 500;

/** Whether the server on a port answers like an engine. */
async function isTidings(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://${host}:${port}/v1/health`, {
      signal: AbortSignal.timeout(probeMs),
    });
    const health: unknown = await response.json();
    return Array.isArray(memberOf(health, "reasons"));
  } catch {
    return false;
  }
}
