/** An engine on real time, with visitors' browsers over real sockets. */
import { EventSource, type FetchLikeResponse } from "eventsource";
import { onTestFinished } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { system } from "../../adapters/system/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import type { EngineOptions } from "../../src/host/options/options.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { WebchatSession } from "../../src/webchat/sessions/session-types.ts";
import type { WebchatMessage } from "../../src/webchat/types.ts";
import { serve, type Mounting } from "../api/servers.ts";

export interface Shop {
  readonly engine: MessagingEngine;
  /** The base URL of the API. */
  readonly base: string;
  readonly port: number;
  /** Closes all open sockets, as a network failure does. */
  cut(): void;
}

export async function shop(
  options: Partial<EngineOptions> = {},
  {
    storage = memory(),
    mounting,
  }: { readonly storage?: StoragePort; readonly mounting?: Mounting } = {},
): Promise<Shop> {
  const engine = new MessagingEngine({ storage, transports: [sandbox()], ...system(), ...options });
  const running = await serve(mounting ?? { prefix: "", listener: nodeHandler }, engine);
  onTestFinished(async () => {
    await engine.stop({ deadlineMs: 1_000 });
    await running[Symbol.asyncDispose]();
  });
  await engine.start();
  const { base, port, server } = running;
  return { engine, base, port, cut: () => server.closeAllConnections() };
}

export interface Visitor {
  readonly session: WebchatSession;
  readonly token: string;
  /** The routes of its session. */
  readonly url: string;
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

export function visitorOf({ base }: Pick<Shop, "base">, session: WebchatSession): Visitor {
  const { id, token } = session;
  const url = `${base}/v1/webchat/sessions/${id}`;
  return {
    session,
    token: token ?? "",
    url,
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          ...headers,
        },
        body: JSON.stringify(body),
      }),
  };
}

/** A browser tab: the events of its `EventSource`, with their numbers. */
export interface Tab {
  readonly told: { readonly id: string; readonly message: WebchatMessage }[];
  readonly redactions: Tab["told"];
  readonly opened: () => number;
  readonly source: EventSource;
  /** From now on, the browser cannot connect until the function that is returned is called. */
  goOffline(): () => void;
}

export function openTab({ url, token }: Pick<Visitor, "url" | "token">): Tab {
  let online = Promise.resolve();
  const source = new EventSource(`${url}/stream?token=${encodeURIComponent(token)}`, {
    fetch: async (address, init) => {
      await online;
      return inAHurry(await fetch(address, init));
    },
  });
  onTestFinished(() => source.close());
  const of = (type: string): Tab["told"] => {
    const told: Tab["told"] = [];
    source.addEventListener(type, ({ lastEventId, data }) => {
      told.push({ id: lastEventId, message: JSON.parse(String(data)) as WebchatMessage });
    });
    return told;
  };
  let opened = 0;
  source.addEventListener("open", () => void opened++);
  return {
    told: of("message"),
    redactions: of("redaction"),
    opened: () => opened,
    source,
    goOffline() {
      const back = Promise.withResolvers<void>();
      online = back.promise;
      return back.resolve;
    },
  };
}

/** A stream after which the browser connects again at once. The server asks it to wait for 2 s. */
function inAHurry({ body, headers, status, redirected, url }: Response): FetchLikeResponse {
  const shorten = new TransformStream<string, string>({
    transform: (text, into) => into.enqueue(text.replace(/^retry: 2000$/m, "retry: 1")),
  });
  const hurried = body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(shorten)
    .pipeThrough(new TextEncoderStream());
  return { body: hurried ?? null, headers, status, redirected, url };
}
