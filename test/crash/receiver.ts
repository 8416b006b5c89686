/**
 * Receivers of webhooks outside the processes that are killed. They note all that they are sent; chance refuses a few events, or breaks off,
 * the first time that they come.
 */
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../src/ports/clock.ts";
import type { EventType } from "../../src/events/types.ts";
import { authority } from "../adapters/http-client/authority.ts";
import type { Dice } from "./dice.ts";

export interface Endpoint {
  readonly name: string;
  readonly events: readonly EventType[];
  readonly ordering: "none" | "fifo";
}

/** What is subscribed to, so that most events come once. */
export const endpoints: readonly Endpoint[] = [
  { name: "messages", events: ["message.sent", "message.failed"], ordering: "none" },
  { name: "contacts", events: ["contact.created"], ordering: "none" },
  { name: "conversations", events: ["conversation.created"], ordering: "fifo" },
];

/** One request. Times are the engine's. */
export interface Post {
  readonly endpoint: string;
  readonly event_id: string;
  readonly at: number;
}

export class Receiver {
  readonly posts: Post[] = [];
  /** Who trusts it can send to it. */
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
      const post = {
        endpoint: (request.url ?? "").slice(1),
        event_id: String(request.headers["webhook-id"]),
      };
      receiver.posts.push({ ...post, at: clock.now() });
      const name = `${post.endpoint} ${post.event_id}`;
      const fate = seen.has(name) ? "taken" : dice.pick(fates(post.endpoint));
      seen.add(name);
      request.resume();
      void sleep(dice.between(0, 20)).then(() => {
        if (fate === "broken off") response.destroy();
        else response.writeHead(fate === "taken" ? 204 : 500).end();
      });
    });
    return receiver;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

type Fate = "taken" | "refused" | "broken off";

/** Where order is kept one that fails holds up all, and a run would wait for the long pauses between tries. */
function fates(endpoint: string): Readonly<Record<Fate, number>> {
  const isOrdered = endpoints.some(
    ({ name, ordering }) => name === endpoint && ordering === "fifo",
  );
  return isOrdered
    ? { taken: 1, refused: 0, "broken off": 0 }
    : { taken: 94, refused: 3, "broken off": 3 };
}
