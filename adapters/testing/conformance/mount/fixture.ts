import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApiRequest, ApiResponse, Mountable } from "../../../../src/api/index.ts";
import { hasMethods } from "../../../../src/kernel/index.ts";
import { Mismatch } from "../checks.ts";
import { checkReturned, type Checks } from "../suite.ts";
import { ask, connectTo, type Address, type RawAnswer, type RawRequest } from "./raw-http.ts";

/**
 * What a check can need of a mount. `raw_bytes`: it gets the original bytes of bodies,
 * because no earlier middleware parses them. `address`: the framework tells the client's address.
 * `passes_on`: the mount leaves other requests to the host application. `pipelining`: the mount
 * gets the requests of a connection itself, and not from a server that puts them in order.
 * `closing`: the mount ends responses itself, and so decides when a connection closes.
 */
export type MountNeed = "raw_bytes" | "address" | "passes_on" | "pipelining" | "closing";

/** A server with an engine. */
export interface MountUnderTest {
  /**
   * The URL under which the engine is mounted, without a final slash:
   * `http://127.0.0.1:8080/messaging`.
   */
  readonly url: string;
  /** Closes the server and all of its connections. Called after the test. */
  close(): Promise<void>;
}

/** How the engine of a check responds. */
export type Handle = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** An engine behind a mount. */
export class Mounted {
  readonly address: Address;
  /** The path of the mount. */
  readonly prefix: string;
  /** The requests that the engine got, in order. */
  readonly requests: readonly ApiRequest[];
  readonly #sockets: Socket[];

  constructor({ url }: MountUnderTest, requests: readonly ApiRequest[], sockets: Socket[]) {
    const { hostname, port, pathname } = new URL(url);
    this.address = { host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port) };
    this.prefix = pathname === "/" ? "" : pathname;
    this.requests = requests;
    this.#sockets = sockets;
  }

  /** Sends a request below the mount on a new connection, and returns the response. */
  async ask(request: Partial<RawRequest> = {}): Promise<RawAnswer> {
    const path = this.prefix + (request.path ?? "/v1/notes");
    return within(ask(this.address, { ...request, path }), `a response to ${path}`);
  }

  /** Opens a connection and writes to it. */
  connect(...chunks: readonly (string | Uint8Array)[]): Client {
    const socket = connectTo(this.address);
    this.#sockets.push(socket);
    return new Client(socket, chunks);
  }

  /** Waits for the n-th request, and returns it. */
  async request(n = 1): Promise<ApiRequest> {
    await eventually(() => this.requests.length >= n, `${n} requests for the engine`);
    const request = this.requests[n - 1];
    if (request === undefined) throw new Mismatch("a request for the engine", "none");
    return request;
  }
}

/** The end of a connection that the check holds. */
export class Client {
  readonly socket: Socket;
  #text = "";
  #isClosed = false;

  constructor(socket: Socket, chunks: readonly (string | Uint8Array)[]) {
    this.socket = socket;
    socket.setEncoding("latin1").on("data", (chunk: string) => (this.#text += chunk));
    // A server may close a connection at any time.
    socket.on("error", () => {}).on("close", () => (this.#isClosed = true));
    socket.on("end", () => socket.end());
    for (const chunk of chunks) socket.write(chunk);
  }

  /** All that has arrived, as Latin-1. */
  get text(): string {
    return this.#text;
  }

  /** Waits until this text has arrived. */
  async waitFor(text: string): Promise<void> {
    await eventually(() => this.#text.includes(text), `${JSON.stringify(text)} from the server`);
  }

  /** Waits until the connection is closed. */
  async waitForClose(): Promise<void> {
    await eventually(() => this.#isClosed, "a connection that the server closes");
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.socket.destroy();
  }
}

/** The servers of one test. */
export class Fixture {
  readonly #serve: (engine: Mountable) => Promise<MountUnderTest>;
  readonly #open: MountUnderTest[] = [];
  readonly #sockets: Socket[] = [];

  constructor(serve: (engine: Mountable) => Promise<MountUnderTest>) {
    this.#serve = serve;
  }

  /** Mounts an engine that responds in this way. */
  async mount(handle: Handle = ok, paths: Mountable["paths"] = "v1"): Promise<Mounted> {
    const requests: ApiRequest[] = [];
    const api = {
      async handle(request: ApiRequest): Promise<ApiResponse> {
        requests.push(request);
        return handle(request);
      },
    };
    const underTest = await this.#serve({ api, paths });
    checkReturned(
      "mountConformance: serve()",
      underTest,
      "{ url, close }, with a URL of this machine",
      hasMethods(underTest, "close") && URL.canParse(underTest.url),
    );
    this.#open.push(underTest);
    return new Mounted(underTest, requests, this.#sockets);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const underTest of this.#open) await underTest.close();
  }
}

const ok: Handle = () => text("ok");

export const text = (body: ApiResponse["body"]): ApiResponse => ({
  status: 200,
  headers: { "Content-Type": "text/plain" },
  body,
});

/** Checks poll this often, this many times. On a busy machine they wait longer. */
const pollMs = 4;
const polls = 500;

/** Waits until the condition holds. Fails if it does not within some seconds. */
export async function eventually(holds: () => boolean, expected: string): Promise<void> {
  for (let i = 0; !holds(); i++) {
    if (i === polls) throw new Mismatch(`${expected} within ${(polls * pollMs) / 1_000} s`, "none");
    await sleep(pollMs);
  }
}

/** Waits for a promise. Fails if it is not settled within some seconds. */
export async function within<T>(promise: Promise<T>, expected: string): Promise<T> {
  let isOver = false;
  const over = (): void => void (isOver = true);
  void promise.then(over, over);
  await eventually(() => isOver, expected);
  return promise;
}

/** Waits until a number no longer changes, and returns it. */
export async function settled(value: () => number): Promise<number> {
  for (let before = -1; value() !== before;) {
    before = value();
    for (let i = 0; i < 300; i++) await new Promise((resolve) => setImmediate(resolve));
  }
  return value();
}

export type MountChecks = Checks<Fixture, MountNeed>;
