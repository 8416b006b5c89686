import type { ApiRequest, ApiResponse } from "../../src/api/http.ts";
import { messages, type MessageRow } from "../../src/messages/rows.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import type { WebchatMessage } from "../../src/webchat/types.ts";
import { laws } from "./invariant.ts";
import { allRows } from "./rows.ts";
import type { World } from "./world.ts";

/** A message, or its redaction, that the browser received from its event stream. */
export interface ReceivedMessage {
  /** Its number in the visitor's mailbox. */
  readonly number: number;
  readonly message: WebchatMessage;
  readonly isRedaction: boolean;
}

/** A message that the visitor posted. */
export interface PostedMessage {
  readonly client_id: string;
  readonly body: string;
  /** The id in the response; undefined until there is one. */
  message_id: string | undefined;
}

/** A webchat session and the visitor's credentials for it. */
export interface Admission {
  readonly session_id: string;
  readonly token: string;
  readonly contact_id: string;
  /** The mailbox number to read from. Undefined: from where the session begins. */
  readonly after: number | undefined;
}

/** A session's token may expire after this many milliseconds; then the visitor opens a new one. */
const maxSessionMs = 23 * 3_600_000;
/** How long a request waits for its response. */
const requestTimeoutMs = 30_000;

/** A visitor's browser asks for these operations over HTTP. */
const operationOf = {
  messages: "webchat.sendAsVisitor",
  marks: "webchat.mark",
  typing: "webchat.typeAsVisitor",
} as const;

/**
 * A visitor's browser. It keeps an event stream open, loses the connection now and then, and
 * reconnects with the number of the last message it received.
 */

export class Browser {
  readonly admission: Admission;
  readonly received: ReceivedMessage[] = [];
  readonly posted: PostedMessage[] = [];
  /** The session has ended. */
  isGone = false;
  readonly #world: World;
  readonly #marked = new Set<string>();
  readonly #openedAt: number;
  #connection = new AbortController();

  constructor(world: World, admission: Admission) {
    this.#world = world;
    this.admission = admission;
    this.#openedAt = world.clock.now();
    void this.#keepListening();
  }

  /** Drops the connection. Events in transit are lost. */
  disconnect(): void {
    this.#connection.abort("disconnected");
  }

  async post(body: string): Promise<void> {
    if (this.#world.dice.chance(0.3)) void this.#postOnce("typing", {});
    const client_id = `c${this.posted.length + 1}`;
    const message: PostedMessage = { client_id, body, message_id: undefined };
    this.posted.push(message);
    const answer = await this.#postUntilAnswered("messages", { body, client_id });
    if (answer !== undefined) message.message_id = (JSON.parse(answer) as { id: string }).id;
  }

  async #keepListening(): Promise<void> {
    const { clock, dice } = this.#world;
    while (!this.isGone) {
      await this.#listen();
      await clock.sleep(this.#world.faultsStopped ? 500 : dice.between(0, 10_000));
    }
  }

  /** Reads the event stream over one connection until that breaks. */
  async #listen(): Promise<void> {
    const { clients, clock, dice, coverage } = this.#world;
    const { run, engine } = await this.#world.running();
    const connection = new AbortController();
    this.#connection = connection;
    const broken = new Promise<undefined>((resolve) => {
      connection.signal.addEventListener("abort", () => resolve(undefined), { once: true });
      void run.ended.then(() => resolve(undefined));
      if (this.#world.disconnects()) {
        void clock.sleep(dice.between(0, 30_000), connection.signal).then(() => resolve(undefined));
      }
    });
    const last = this.received.at(-1)?.number ?? this.admission.after;
    const headers = last === undefined ? [] : ["last-event-id", String(last)];
    const request = this.#request({ method: "GET", headers, signal: connection.signal }, "stream");
    const asked = coverage.begin(run, ["webchat.stream"]);
    clients.waiting++;
    const response = await Promise.race([engine.api.handle(request), broken]);
    clients.waiting--;
    if (response !== undefined) await this.#readStream(response, broken);
    coverage.end(asked);
    connection.abort("closed");
  }

  async #readStream({ status, body }: ApiResponse, broken: Promise<undefined>): Promise<void> {
    if (status !== 200 || body === null || typeof body === "string" || body instanceof Uint8Array) {
      return this.#handleRefusal(status, "its stream");
    }
    const chunks = body[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([chunks.next().catch(() => undefined), broken]);
      if (next === undefined || next.done === true) return;
      this.#receive(next.value);
    }
  }

  #receive(event: string): void {
    const number = /^id: (\d+)$/m.exec(event)?.[1];
    const data = /^data: (.*)$/m.exec(event)?.[1];
    if (number === undefined || data === undefined) return;
    const { trace, dice, faultsStopped } = this.#world;
    const message = JSON.parse(data) as WebchatMessage;
    const { session_id } = this.admission;
    const isRedaction = /^event: redaction$/m.test(event);
    this.received.push({ number: Number(number), message, isRedaction });
    const what = isRedaction ? `the redaction of ${message.id}` : message.id;
    trace.note(
      [session_id, message.id],
      `visitor of ${session_id} receives ${what} as number ${number}`,
    );
    if (isRedaction) return;
    if (faultsStopped || dice.chance(0.5)) {
      void this.#mark(message.id, dice.chance(0.5) ? "read" : "delivered");
    }
  }

  async #mark(message_id: string, mark: "delivered" | "read"): Promise<void> {
    if (this.#marked.has(message_id)) return;
    this.#marked.add(message_id);
    await this.#postUntilAnswered("marks", { message_id, mark });
  }

  /**
   * Returns undefined when the session has ended, or the message was erased or redacted meanwhile.
   */
  async #postUntilAnswered(
    what: "messages" | "marks",
    body: { readonly client_id?: string; readonly [field: string]: unknown },
  ): Promise<string | undefined> {
    const { clients, clock, dice, database, history } = this.#world;
    clients.waiting++;
    try {
      while (!this.isGone) {
        const answer = await this.#postOnce(what, body);
        if (answer?.status === 201 || answer?.status === 204) {
          return typeof answer.body === "string" ? answer.body : "";
        }
        if (what === "marks" && answer?.status === 404) return undefined;
        const [made] = messagesOfPost(database, this.admission.session_id, body.client_id ?? "");
        // The erasure of the contact removes the redacted message while the answer is on its way.
        const isErased = made === undefined && history.isErased(this.admission.contact_id);
        if (answer?.status === 410 && (made?.body === null || isErased)) return undefined;
        if (answer !== undefined) this.#handleRefusal(answer.status, what);
        await clock.sleep(dice.between(100, 3_000));
      }
      return undefined;
    } finally {
      clients.waiting--;
    }
  }

  /** Returns undefined when the engine crashes or does not answer in time. */
  async #postOnce(what: keyof typeof operationOf, body: object): Promise<ApiResponse | undefined> {
    const { clock, coverage } = this.#world;
    const { run, engine } = await this.#world.running();
    const asked = coverage.begin(run, [operationOf[what]]);
    const timer = new AbortController();
    const lost = Promise.race([run.ended, clock.sleep(requestTimeoutMs, timer.signal)]).then(
      () => undefined,
    );
    const answer = await Promise.race([
      engine.api.handle(this.#request({ method: "POST", headers: keyOf(body), body }, what)),
      lost,
    ]);
    timer.abort("answered");
    coverage.end(asked);
    return answer;
  }

  #request(input: Omit<WebRequest, "path" | "token">, what: string): ApiRequest {
    const { session_id, token } = this.admission;
    return apiRequest({ ...input, token, path: `/v1/webchat/sessions/${session_id}/${what}` });
  }

  /** A session ends when its contact is erased or its token expires. Other refusals are errors. */
  #handleRefusal(status: number, what: string): void {
    if (status === 429 || status === 409 || status >= 500) return;
    const { session_id, contact_id } = this.admission;
    this.isGone = true;
    if (status === 404 && this.#world.history.isErased(contact_id)) return;
    // A session that has expired is also removed.
    const isOver = this.#world.clock.now() - this.#openedAt >= maxSessionMs;
    if (isOver && (status === 401 || status === 404)) {
      return void this.#world.visitors.open(this.#world.history.survivorOf(contact_id));
    }
    this.#world.report(
      laws.noUnexpectedErrors,
      [session_id, contact_id],
      `a request for ${what} of ${session_id}, contact ${contact_id}, was answered ${status}`,
    );
  }
}

/** The messages that a visitor's post made. */
export function messagesOfPost(
  database: StoragePort,
  session_id: string,
  client_id: string,
): readonly MessageRow[] {
  const id = `${session_id.slice("wcs_".length)}:${client_id}`;
  return allRows(database, messages).filter(
    ({ provider_message_id }) => provider_message_id?.endsWith(id) === true,
  );
}

/** A message's number is its key too, so that visitors use the same keys. */
function keyOf(body: object): readonly string[] {
  return "client_id" in body ? ["idempotency-key", String(body.client_id)] : [];
}

interface WebRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly token: string;
  readonly headers?: readonly string[];
  readonly body?: object;
  readonly signal?: AbortSignal;
}

/** The request as an HTTP adapter passes it to the engine. */
function apiRequest({ method, path, token, headers = [], body, signal }: WebRequest): ApiRequest {
  const bytes = new TextEncoder().encode(body === undefined ? "" : JSON.stringify(body));
  return {
    method,
    url: path,
    path,
    query: "",
    headers: ["authorization", `Bearer ${token}`, "content-type", "application/json", ...headers],
    body: async () => ({ kind: "bytes", bytes }),
    async *chunks() {
      yield bytes;
    },
    signal: signal ?? new AbortController().signal,
  };
}
