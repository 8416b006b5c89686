/** The visitor's session, and requests with it. */
import { withLock } from "../../../shared/browser/connection/locks.ts";
import { Memory } from "../memory.ts";
import type { ChatOptions } from "../options.ts";
import type { Session } from "./session.ts";

/** A response that is not 2xx. */
export class Refused extends Error {
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor({ status, statusText, headers, url }: Response, detail: string | undefined) {
    super(`tidings: ${url.split("?", 1).join()} answered ${status}. ${detail ?? statusText}`);
    this.status = status;
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status >= 500;
  }

  /** Whether the session may have ended. */
  get isOver(): boolean {
    return this.status === 401 || this.status === 404;
  }
}

const deadlineMs = 30_000;

export class VisitorApi {
  /** The values that all tabs share. */
  readonly memory: Memory;
  readonly #options: ChatOptions;
  #opening: Promise<Session> | undefined;

  constructor(options: ChatOptions) {
    this.#options = options;
    this.memory = new Memory(options, () => localStorage);
  }

  /** The last session, which may have ended. Undefined if this visitor has none in this browser. */
  get known(): Session | undefined {
    const session = this.memory.recall<Session>("session");
    return session?.visitor === this.#options.visitor ? session : undefined;
  }

  /** Returns the session. Opens one if there is none, once for all tabs. */
  session(): Promise<Session> {
    const { known } = this;
    if (known !== undefined) return Promise.resolve(known);
    this.#opening ??= this.#openOnce().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  /** Runs `work` in the session, or again in the next one if the session has ended. */
  async inSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.session();
    try {
      return await work(session);
    } catch (error) {
      if (!(error instanceof Refused) || !error.isOver) throw error;
      this.#forget(session);
      return work(await this.session());
    }
  }

  /** Forgets a session that has ended, unless another tab has replaced it already. */
  #forget({ id }: Session): void {
    if (this.known?.id !== id) return;
    this.memory.remember("session", undefined);
  }

  /**
   * Sends a request under a session's path. Without a signal of its own it ends after 30 s.
   * @throws Refused; TypeError or DOMException when there was no answer
   */
  async request(session: Session, path: string, init: RequestInit = {}): Promise<Response> {
    const { api, id, token } = session;
    const headers = new Headers(init.headers);
    headers.set("Authorization", `Bearer ${token}`);
    if (init.body !== undefined) headers.set("Content-Type", "application/json");
    const url = `${api}v1/webchat/sessions/${encodeURIComponent(id)}/${path}`;
    const signal = init.signal ?? AbortSignal.timeout(deadlineMs);
    return succeeded(await fetch(url, { ...init, headers, signal, credentials: "omit" }));
  }

  #openOnce(): Promise<Session> {
    return withLock(
      `tidings-chat-session:${this.#options.sessionUrl}`,
      async () => this.known ?? (await this.#open()),
    );
  }

  async #open(): Promise<Session> {
    const { sessionUrl, visitor } = this.#options;
    const init = { method: "POST", credentials: "include" } as const;
    const signal = AbortSignal.timeout(deadlineMs);
    const response = await succeeded(await fetch(sessionUrl, { ...init, signal }));
    const session = parseSession(await response.json(), response.url, visitor);
    this.memory.remember("session", session);
    return session;
  }
}

async function succeeded(response: Response): Promise<Response> {
  if (response.ok) return response;
  const problem: unknown = await response.json().catch(() => undefined);
  const detail = fieldOf(problem, "detail");
  throw new Refused(response, typeof detail === "string" ? detail : undefined);
}

/** @throws Error when the host application answers something else */
function parseSession(given: unknown, url: string, visitor: string): Session {
  const fields = ["id", "token", "contact_id", "api"] as const;
  const [id, token, contact_id, api] = fields.map((name) => fieldOf(given, name));
  const base = typeof api === "string" ? URL.parse(api, url) : null;
  if (
    typeof id !== "string" ||
    typeof token !== "string" ||
    typeof contact_id !== "string" ||
    base === null
  ) {
    throw new Error(
      `tidings: ${url} must answer the session of webchat.open() and, as api, the address below ` +
        `which the engine answers /v1. Expected ${fields.join(", ")}.`,
    );
  }
  return { id, token, contact_id, api: base.href.replace(/\/*$/, "/"), visitor };
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
