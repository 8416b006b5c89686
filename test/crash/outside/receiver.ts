/**
 * Webhook receivers outside the processes that are killed. They record every request. At random
 * they refuse an event, or drop the connection, the first time that it arrives.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../../src/ports/clock.ts";
import { authority } from "../../adapters/http-client/authority.ts";
import type { Dice } from "../dice.ts";
import { endpoints } from "./protocol.ts";

/** A request that arrived, at a time by the engines' clock. */
export interface WebhookRequest {
  readonly endpoint: string;
  readonly event_id: string;
  readonly at: number;
  /** Whether it got no response, because the receiver closed the connection. */
  readonly dropped: boolean;
}

export class Receiver implements Disposable {
  readonly requests: WebhookRequest[] = [];
  /** The authority's certificate, which clients must trust. */
  readonly certificate: string;
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, certificate: string) {
    this.#server = server;
    this.certificate = certificate;
    this.url = `https://localhost:${(server.address() as AddressInfo).port}`;
  }

  static async open(clock: Clock, dice: Dice): Promise<Receiver> {
    const root = await authority("the receivers' authority");
    const server = createServer({ ...(await root.issue("localhost")), keepAliveTimeout: 0 });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const receiver = new Receiver(server, root.cert);
    const seen = new Set<string>();
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const arrival = {
        endpoint: (request.url ?? "").slice(1),
        event_id: String(request.headers["webhook-id"]),
      };
      const name = `${arrival.endpoint} ${arrival.event_id}`;
      const outcome = seen.has(name) ? "accepted" : dice.pick(outcomes(arrival.endpoint));
      seen.add(name);
      receiver.requests.push({ ...arrival, at: clock.now(), dropped: outcome === "dropped" });
      request.resume();
      void sleep(dice.between(0, 20)).then(() => {
        if (outcome === "dropped") response.destroy();
        else response.writeHead(outcome === "accepted" ? 204 : 500).end();
      });
    });
    return receiver;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

type Outcome = "accepted" | "refused" | "dropped";

/** A failure in fifo order would hold up all later events until its long retry delay is over. */
function outcomes(endpoint: string): Readonly<Record<Outcome, number>> {
  const isOrdered = endpoints.some(
    ({ name, ordering }) => name === endpoint && ordering === "fifo",
  );
  return isOrdered
    ? { accepted: 1, refused: 0, dropped: 0 }
    : { accepted: 94, refused: 3, dropped: 3 };
}
