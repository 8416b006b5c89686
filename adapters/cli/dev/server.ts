import type { RequestListener } from "node:http";
import { MessagingEngine } from "../../entry.ts";
import { nodeHandler } from "../../http/node.ts";
import { isOwnPath, originForm } from "../../http/paths.ts";
import { standard } from "../../standard.ts";
import { sandbox } from "../../transport/sandbox/index.ts";
import type { Database } from "../database/database.ts";
import { terminalLogger } from "../engine.ts";
import { dim, note } from "../terminal.ts";
import { demoActions } from "./actions.ts";
import { ensureKey, type DevKey } from "./key.ts";
import type { Listener } from "./listen.ts";
import { pagesOf, type Mount } from "./pages.ts";
import { moveWebhooks, seed } from "./seed/seed.ts";

interface DevServerOptions {
  readonly database: Database;
  readonly file: string;
  readonly listener: Listener;
  /** Whether to fill a new file with sample data. */
  readonly seed: boolean;
  readonly stopped: AbortSignal;
}

/** A page, and its address. */
export interface PageAddress {
  readonly name: string;
  readonly url: string;
  readonly purpose: string;
}

/** Destinations of webhooks besides the public Internet: this machine. */
const thisMachine = ["localhost", "127.0.0.1", "::1"];

/** The engine of `tidings dev`, with its pages, on a port. */
export class DevServer implements AsyncDisposable {
  readonly engine: MessagingEngine;
  readonly file: string;
  readonly url: string;
  readonly pages: readonly PageAddress[];
  /** Opens the pages for operators. */
  readonly token: string;
  readonly key: DevKey;
  readonly #listener: Listener;

  private constructor(
    parts: Pick<DevServer, "engine" | "file" | "url" | "pages" | "token" | "key">,
    listener: Listener,
  ) {
    this.engine = parts.engine;
    this.file = parts.file;
    this.url = parts.url;
    this.pages = parts.pages;
    this.token = parts.token;
    this.key = parts.key;
    this.#listener = listener;
  }

  static async start(options: DevServerOptions): Promise<DevServer> {
    const { database, file, listener } = options;
    const url = `http://localhost:${listener.port}`;
    const { http, agents, sentiment } = standard();
    // Each engine needs a storage and a transport of its own.
    const parts = () => ({
      storage: database.storage({ migrate: true }),
      transports: [sandbox()],
      sentiment,
      agents: { ...agents, actions: demoActions },
      webchat: { origins: [url, `http://127.0.0.1:${listener.port}`] },
      logger: terminalLogger(),
    });
    if (options.seed) {
      note(dim("Filling the file with sample data. This can take some seconds."));
      const made = await seed(parts(), url, options.stopped);
      if (!made) note(dim("The file has contacts already, so --seed added nothing."));
    }
    const engine = new MessagingEngine({
      ...parts(),
      http: { ...http, allow: thisMachine },
    });
    try {
      await engine.start();
      await moveWebhooks(engine, url);
      const { pages, mounts, token } = pagesOf(engine);
      const addresses = pages.map(({ name, path, purpose }) => ({
        name,
        url: `${url}${path}/`,
        purpose,
      }));
      const key = await ensureKey(engine, file);
      listener.serve(router(engine, mounts));
      return new DevServer({ engine, file, url, pages: addresses, token, key }, listener);
    } catch (error) {
      await engine.stop();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.engine.stop();
  }
}

/** Returns a handler that passes each request to the API or to the first mount that matches. */
function router(engine: MessagingEngine, mounts: readonly Mount[]): RequestListener {
  const api = nodeHandler(engine);
  const handlers = mounts.map(({ path, handler }) => ({
    path,
    handle: nodeHandler(handler, { basePath: path }),
  }));
  return (request, response) => {
    const target = originForm(request.url);
    const mount = isOwnPath(engine, target)
      ? undefined
      : handlers.find(({ path }) => isBelow(path, target));
    (mount?.handle ?? api)(request, response);
  };
}

const isBelow = (path: string, target: string): boolean =>
  target === path || target.startsWith(`${path}/`) || target.startsWith(`${path}?`);
