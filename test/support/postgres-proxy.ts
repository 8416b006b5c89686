/** What stands between a pool and its PostgreSQL server: a line that is long, is cut, or takes no calls, as a test says. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Frame, Frames, Statements } from "./postgres-frames.ts";

export interface Statement {
  readonly sql: string;
  /** The how-manyeth it is of those that went by, on all connections. */
  readonly number: number;
}

interface Trap {
  readonly matches: (statement: Statement) => boolean;
  readonly when: "before" | "after";
  readonly sprung: () => void;
}

export class PostgresProxy implements AsyncDisposable {
  /** Of the same database, through the proxy. */
  readonly url: string;
  /** Milliseconds that everything takes, each way. */
  delayMs = 0;
  /** New connections are cut at once. */
  refuses = false;
  readonly #upstream: URL;
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  #statements = 0;
  #trap: Trap | undefined;

  private constructor(url: string, server: Server) {
    this.#upstream = new URL(url);
    this.#server = server;
    const own = new URL(url);
    own.searchParams.delete("host");
    own.hostname = "127.0.0.1";
    own.port = String((server.address() as AddressInfo).port);
    this.url = own.href;
    server.on("connection", (client) => this.#take(client));
  }

  static async open(url: string): Promise<PostgresProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new PostgresProxy(url, server);
  }

  /** Statements that went by. */
  get statements(): number {
    return this.#statements;
  }

  /** Connections that stand. */
  get connections(): number {
    return this.#lines.size;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const line of this.#lines) line.cut();
  }

  /**
   * Cuts the connection that carries the first statement from now on that matches: before the server sees it, or after the server
   * did what it says and before the client hears of that. Resolves when it is cut.
   */
  cutAt(matches: (statement: Statement) => boolean, when: "before" | "after"): Promise<void> {
    return new Promise((resolve) => {
      this.#trap = { matches, when, sprung: resolve };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }

  #take(client: Socket): void {
    if (this.refuses) {
      client.destroy();
      return;
    }
    const line = new Line(client, connectTo(this.#upstream), {
      delay: () => this.delayMs,
      trapped: (sql) => {
        const statement = { sql, number: ++this.#statements };
        const trap = this.#trap;
        if (trap?.matches(statement) !== true) return undefined;
        this.#trap = undefined;
        return trap;
      },
    });
    this.#lines.add(line);
    void line.ended.then(() => this.#lines.delete(line));
  }
}

interface LineOptions {
  readonly delay: () => number;
  readonly trapped: (sql: string) => Trap | undefined;
}

/** One connection, both ways. */
class Line {
  readonly ended: Promise<unknown>;
  readonly #client: Socket;
  readonly #server: Socket;

  constructor(client: Socket, server: Socket, { delay, trapped }: LineOptions) {
    this.#client = client;
    this.#server = server;
    this.ended = Promise.all(
      [client, server].map((each) => new Promise((resolve) => each.once("close", resolve))),
    );
    const statements = new Statements();
    // Rounds end with the client's Sync or simple query, and with the server's ReadyForQuery after all before is done.
    let begun = 0;
    let done = 0;
    let last: { readonly round: number; readonly trap: Trap } | undefined;
    const spring = ({ sprung }: Trap): void => {
      this.cut();
      sprung();
    };

    this.#pass(client, server, delay, new Frames({ startup: true }), (frame) => {
      const sql = statements.executedBy(frame);
      const trap = sql === undefined ? undefined : trapped(sql);
      if (trap?.when === "before") {
        spring(trap);
        return false;
      }
      if (trap !== undefined) last = { round: begun + 1, trap };
      if (frame.type === "Q" || frame.type === "S") begun++;
      return true;
    });
    this.#pass(server, client, delay, new Frames({ startup: false }), ({ type }) => {
      // The first one says that the connection is open.
      if (type === "Z" && done++ === last?.round) spring(last.trap);
      return last === undefined;
    });
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  /** Passes on, in order and late, what `look` lets through. */
  #pass(
    from: Socket,
    to: Socket,
    delay: () => number,
    frames: Frames,
    look: (frame: Frame) => boolean,
  ): void {
    let passed: Promise<void> = Promise.resolve();
    const later = (work: () => void): void => {
      const due = performance.now() + delay();
      passed = passed.then(async () => {
        const wait = due - performance.now();
        if (wait > 0) await sleep(wait);
        work();
      });
    };
    from.setNoDelay?.(true);
    from.on("data", (chunk) => {
      const through: Buffer[] = [];
      for (const frame of frames.push(chunk)) {
        if (from.destroyed) return;
        if (look(frame)) through.push(frame.bytes);
      }
      if (through.length > 0) later(() => void to.write(Buffer.concat(through)));
    });
    from.on("end", () => later(() => to.end()));
    from.on("error", () => this.cut());
    from.on("close", () => later(() => to.destroy()));
  }
}

function connectTo(url: URL): Socket {
  const host = url.searchParams.get("host") ?? url.hostname;
  const port = url.port === "" ? 5432 : Number(url.port);
  return host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
}
