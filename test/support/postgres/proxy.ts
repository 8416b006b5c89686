/** A proxy between a pool and its PostgreSQL server that can delay, cut and refuse connections. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Frames, Statements, type Frame } from "./frames.ts";

export interface Statement {
  readonly sql: string;
  /** Its number among the statements on all connections, from 1. */
  readonly number: number;
}

interface CutRequest {
  readonly matches: (statement: Statement) => boolean;
  readonly when: "before" | "after";
  readonly onCut: () => void;
}

export class PostgresProxy implements AsyncDisposable {
  /** The database's URL through the proxy. */
  readonly url: string;
  /** The delay in each direction, in milliseconds. */
  delayMs = 0;
  /** Closes new connections at once. */
  refuses = false;
  /**
   * Accepts new connections, and responds to nothing any more. A connection that was open meanwhile
   * must be cut afterwards.
   */
  isSilent = false;
  readonly #upstream: URL;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  readonly #silent = new Set<Socket>();
  #statements = 0;
  #cutRequest: CutRequest | undefined;

  private constructor(url: string, server: Server) {
    this.#upstream = new URL(url);
    this.#server = server;
    const own = new URL(url);
    own.searchParams.delete("host");
    own.hostname = "127.0.0.1";
    own.port = String((server.address() as AddressInfo).port);
    this.url = own.href;
    server.on("connection", (client) => this.#accept(client));
  }

  static async open(url: string): Promise<PostgresProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PostgresProxy(url, server);
  }

  /** The number of statements so far. */
  get statements(): number {
    return this.#statements;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const connection of this.#connections) connection.cut();
    for (const client of this.#silent) client.destroy();
  }

  /**
   * Cuts the connection that carries the next matching statement: before the server gets it, or
   * after the server has run it and before the client gets the result. Resolves once it is cut.
   */
  cutAt(matches: (statement: Statement) => boolean, when: "before" | "after"): Promise<void> {
    return new Promise((resolve) => {
      this.#cutRequest = { matches, when, onCut: resolve };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    if (this.refuses) {
      client.destroy();
      return;
    }
    if (this.isSilent) {
      this.#silent.add(client.resume());
      client.once("close", () => this.#silent.delete(client));
      return;
    }
    const connection = new Connection(client, connectTo(this.#upstream), {
      delay: () => this.delayMs,
      isSilent: () => this.isSilent,
      cutRequestFor: (sql) => {
        const statement = { sql, number: ++this.#statements };
        const request = this.#cutRequest;
        if (request?.matches(statement) !== true) return undefined;
        this.#cutRequest = undefined;
        return request;
      },
    });
    this.#connections.add(connection);
    void connection.ended.then(() => this.#connections.delete(connection));
  }
}

interface ConnectionOptions {
  readonly delay: () => number;
  readonly isSilent: () => boolean;
  readonly cutRequestFor: (sql: string) => CutRequest | undefined;
}

/** A client's connection and the proxy's connection to the server for it. */
class Connection {
  readonly ended: Promise<unknown>;
  readonly #client: Socket;
  readonly #server: Socket;

  constructor(
    client: Socket,
    server: Socket,
    { delay, isSilent, cutRequestFor }: ConnectionOptions,
  ) {
    this.#client = client;
    this.#server = server;
    this.ended = Promise.all(
      [client, server].map((each) => new Promise((resolve) => each.once("close", resolve))),
    );
    const statements = new Statements();
    // A round ends with a Sync or a simple query from the client, and with a ReadyForQuery from the
    // server once everything before it is done.
    let begun = 0;
    let done = 0;
    let pending: { readonly round: number; readonly request: CutRequest } | undefined;
    const cutFor = ({ onCut }: CutRequest): void => {
      this.cut();
      onCut();
    };

    this.#forward(client, server, delay, new Frames({ startup: true }), (frame) => {
      const sql = statements.executedBy(frame);
      const request = sql === undefined ? undefined : cutRequestFor(sql);
      if (request?.when === "before") {
        cutFor(request);
        return false;
      }
      if (request !== undefined) pending = { round: begun + 1, request };
      if (frame.type === "Q" || frame.type === "S") begun++;
      return true;
    });
    this.#forward(server, client, delay, new Frames({ startup: false }), ({ type }) => {
      // The first ReadyForQuery only reports that the connection is open.
      if (type === "Z" && done++ === pending?.round) cutFor(pending.request);
      return pending === undefined && !isSilent();
    });
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  /** Forwards the messages that `isForwarded` accepts, in order and delayed. */
  #forward(
    from: Socket,
    to: Socket,
    delay: () => number,
    frames: Frames,
    isForwarded: (frame: Frame) => boolean,
  ): void {
    let forwarded: Promise<void> = Promise.resolve();
    const later = (work: () => void): void => {
      const due = performance.now() + delay();
      forwarded = forwarded.then(async () => {
        const wait = due - performance.now();
        if (wait > 0) await sleep(wait);
        work();
      });
    };
    from.setNoDelay?.(true);
    from.on("data", (chunk) => {
      const accepted: Buffer[] = [];
      for (const frame of frames.push(chunk)) {
        if (from.destroyed) return;
        if (isForwarded(frame)) accepted.push(frame.bytes);
      }
      if (accepted.length > 0) later(() => void to.write(Buffer.concat(accepted)));
    });
    from.on("end", () => later(() => to.end()));
    from.on("error", () => this.cut());
    from.on("close", () => later(() => to.destroy()));
  }
}

/** Connects to the server of a URL, which may name a socket of this machine. */
export function connectTo(url: URL): Socket {
  const host = url.searchParams.get("host") ?? url.hostname;
  const port = url.port === "" ? 5432 : Number(url.port);
  return host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
}
