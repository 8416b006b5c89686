import type { ApiResponse } from "../../src/api/http.ts";
import type { WebchatMessage } from "../../src/webchat/types.ts";
import { webRequest, type Asking } from "./web.ts";
import type { World } from "./world.ts";

/** A message as a browser had it from its stream. */
export interface Had {
  readonly number: number;
  readonly message: WebchatMessage;
}

/** What a visitor wrote. `taken` is the message that it was answered to be. */
export interface Post {
  readonly client_id: string;
  readonly body: string;
  taken: string | undefined;
}

export interface Admission {
  readonly session_id: string;
  readonly token: string;
  readonly contact_id: string;
  /** After which number of its mailbox it begins; undefined: where its session does. */
  readonly after: number | undefined;
}

/** After that a visitor has to come again, in milliseconds. */
const longestVisit = 23 * 3_600_000;

/** A visitor's browser: it listens, loses its line, and comes again with the number of the last message that it had. */
export class Browser {
  readonly admission: Admission;
  readonly had: Had[] = [];
  readonly posts: Post[] = [];
  /** Its session is no more. */
  isGone = false;
  readonly #world: World;
  readonly #told = new Set<string>();
  readonly #since: number;
  #line = new AbortController();

  constructor(world: World, admission: Admission) {
    this.#world = world;
    this.admission = admission;
    this.#since = world.clock.now();
    void this.#live();
  }

  /** Its line breaks; what is on its way to it is lost. */
  cut(): void {
    this.#line.abort("cut");
  }

  async say(body: string): Promise<void> {
    const post: Post = { client_id: `c${this.posts.length + 1}`, body, taken: undefined };
    this.posts.push(post);
    const answer = await this.#insist("messages", { body, client_id: post.client_id });
    if (answer !== undefined) post.taken = (JSON.parse(answer) as { id: string }).id;
  }

  async #live(): Promise<void> {
    const { clock, dice } = this.#world;
    while (!this.isGone) {
      await this.#listen();
      await clock.sleep(this.#world.healing ? 500 : dice.between(0, 10_000));
    }
  }

  /** One connection, until it breaks. */
  async #listen(): Promise<void> {
    const { clock, dice, faults } = this.#world;
    const { host, engine } = await this.#world.running();
    const line = new AbortController();
    this.#line = line;
    const broken = new Promise<undefined>((resolve) => {
      line.signal.addEventListener("abort", () => resolve(undefined), { once: true });
      void host.life.died.then(() => resolve(undefined));
      if (dice.chance(faults.visitorCut)) {
        void clock.sleep(dice.between(0, 30_000), line.signal).then(() => resolve(undefined));
      }
    });
    const last = this.had.at(-1)?.number ?? this.admission.after;
    const headers = last === undefined ? [] : ["last-event-id", String(last)];
    const request = this.#request({ method: "GET", headers, signal: line.signal }, "stream");
    const response = await Promise.race([engine.api.handle(request), broken]);
    if (response !== undefined) await this.#follow(response, broken);
    line.abort("left");
  }

  async #follow({ status, body }: ApiResponse, broken: Promise<undefined>): Promise<void> {
    if (status !== 200 || body === null || typeof body === "string" || body instanceof Uint8Array) {
      return this.#heed(status, "its stream");
    }
    const chunks = body[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([chunks.next().catch(() => undefined), broken]);
      if (next === undefined || next.done === true) return;
      this.#take(next.value);
    }
  }

  #take(event: string): void {
    const number = /^id: (\d+)$/m.exec(event)?.[1];
    const data = /^data: (.*)$/m.exec(event)?.[1];
    if (number === undefined || data === undefined) return;
    const { trace, dice, healing } = this.#world;
    const message = JSON.parse(data) as WebchatMessage;
    const { session_id } = this.admission;
    this.had.push({ number: Number(number), message });
    trace.note(
      [session_id, message.id],
      `visitor of ${session_id} sees ${message.id} as number ${number}`,
    );
    if (healing || dice.chance(0.5)) {
      void this.#mark(message.id, dice.chance(0.5) ? "read" : "delivered");
    }
  }

  async #mark(message_id: string, mark: "delivered" | "read"): Promise<void> {
    if (this.#told.has(message_id)) return;
    this.#told.add(message_id);
    await this.#insist("marks", { message_id, mark });
  }

  /** Posts until it is answered; undefined when it is refused, for the session or the message is gone. */
  async #insist(what: "messages" | "marks", body: object): Promise<string | undefined> {
    const { clients, clock, dice } = this.#world;
    clients.open++;
    try {
      while (!this.isGone) {
        const answer = await this.#post(what, body);
        if (answer?.status === 201 || answer?.status === 204) {
          return typeof answer.body === "string" ? answer.body : "";
        }
        if (what === "marks" && answer?.status === 404) return undefined;
        if (answer !== undefined) this.#heed(answer.status, what);
        await clock.sleep(dice.between(100, 3_000));
      }
      return undefined;
    } finally {
      clients.open--;
    }
  }

  async #post(what: "messages" | "marks", body: object): Promise<ApiResponse | undefined> {
    const { clock } = this.#world;
    const { host, engine } = await this.#world.running();
    const hangUp = new AbortController();
    const lost = Promise.race([host.life.died, clock.sleep(30_000, hangUp.signal)]).then(
      () => undefined,
    );
    const answer = await Promise.race([
      engine.api.handle(this.#request({ method: "POST", body }, what)),
      lost,
    ]);
    hangUp.abort("answered");
    return answer;
  }

  #request(asking: Omit<Asking, "path" | "token">, what: string): ReturnType<typeof webRequest> {
    const { session_id, token } = this.admission;
    return webRequest({ ...asking, token, path: `/v1/webchat/sessions/${session_id}/${what}` });
  }

  /** What is no answer comes again; a session ends with its contact, or after a day. */
  #heed(status: number, what: string): void {
    if (status === 429 || status === 409 || status >= 500) return;
    const { session_id, contact_id } = this.admission;
    this.isGone = true;
    if (status === 404 && this.#world.registry.isErased(contact_id)) return;
    if (status === 401 && this.#world.clock.now() - this.#since >= longestVisit) {
      return void this.#world.visitors.come(this.#world.registry.now(contact_id));
    }
    const says = `${what} of ${session_id}, of contact ${contact_id}, was answered ${status}`;
    this.#world.accuse("no surprises", [session_id, contact_id], says);
  }
}
