import type {
  HttpClient,
  HttpFailureCode,
  HttpOutcome,
  HttpRequest,
} from "../../src/ports/http-client.ts";
import type { Life } from "./life.ts";
import { short } from "./trace.ts";
import type { World } from "./world.ts";

/** One request as its receiver keeps it: outside the engines, whatever they make of it. */
export interface Post {
  readonly url: string;
  readonly event_id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly life: Life;
  /** The true time, and what its sender's clock showed. */
  readonly at: number;
  readonly started_at: number;
  /** When its sender was answered, could have been, or gave it up. */
  ended_at: number | null;
  /** The sender heard what came of it. */
  heard: boolean;
  status: number | null;
}

interface Answer {
  readonly weight: number;
  readonly status?: number;
  readonly restSeconds?: number;
  readonly fails?: HttpFailureCode;
  /** In milliseconds; Infinity: it never answers. */
  readonly upTo?: number;
}

const well: Answer = { weight: 6, status: 200, upTo: 300 };
const broken: Answer = { weight: 3, status: 500, upTo: 300 };
const trouble: readonly Answer[] = [
  broken,
  { weight: 1, status: 503, restSeconds: 20, upTo: 100 },
  { weight: 1, status: 429, restSeconds: 90, upTo: 100 },
  { weight: 2, status: 204, upTo: 14_000 },
  { weight: 1, status: 200, upTo: Infinity },
  { weight: 1, fails: "response_reset", upTo: 2_000 },
  { weight: 1, fails: "connect_refused", upTo: 50 },
];
const gone: Answer = { weight: 1, status: 410, upTo: 50 };

const tempers: readonly {
  readonly weight: number;
  readonly answers: readonly Answer[];
  readonly heals: boolean;
}[] = [
  { weight: 2, answers: [well], heals: true },
  { weight: 4, answers: [well, ...trouble], heals: true },
  { weight: 1, answers: [well, ...trouble, gone], heals: true },
  { weight: 1, answers: trouble.slice(3, 5), heals: true },
  { weight: 1, answers: [broken], heals: false },
];

/** What stands at the URLs of webhooks: some answer, some don't, and some change their minds. */
export class Receivers {
  readonly posts: Post[] = [];
  readonly #world: World;
  readonly #tempers = new Map<string, (typeof tempers)[number]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A new one. Answers its URL. */
  open(): string {
    const url = `https://receiver-${this.#tempers.size + 1}.example/`;
    this.#tempers.set(url, this.#world.dice.weighted(tempers));
    return url;
  }

  /** As the engine of one life reaches them. */
  client(life: Life): HttpClient {
    return { send: (request) => life.guard(this.#send(life, request)), close() {} };
  }

  get busy(): boolean {
    return this.posts.some(({ ended_at, life }) => ended_at === null && life.alive);
  }

  async #send(
    life: Life,
    { url, headers, body, deadline_ms, signal }: HttpRequest,
  ): Promise<HttpOutcome> {
    const { clock, trace, dice } = this.#world;
    const event_id = headers["webhook-id"] ?? "";
    const post: Post = {
      url,
      event_id,
      headers,
      body: Buffer.from(body ?? []).toString(),
      life,
      at: clock.now(),
      started_at: Math.round(clock.now() + life.skew),
      ended_at: null,
      heard: false,
      status: null,
    };
    const { status = 200, restSeconds, fails, upTo = 0 } = this.#answer(url);
    const takes = upTo === Infinity ? Infinity : dice.between(0, upTo);
    trace.note(
      [life.name, event_id, url],
      `${life.name} posts ${short(event_id)} to ${url}: ${fails ?? status}`,
    );
    this.#world.posted(post);
    this.posts.push(post);
    const hangUp = new AbortController();
    const given = AbortSignal.any([hangUp.signal, ...(signal === undefined ? [] : [signal])]);
    await Promise.race([clock.sleep(Math.min(takes, deadline_ms), given), life.died]);
    hangUp.abort("ended");
    post.ended_at = clock.now();
    post.heard = life.alive && signal?.aborted !== true;
    const code = takes > deadline_ms ? "response_timeout" : fails;
    if (code !== undefined) {
      return {
        outcome: "failed",
        code,
        message: "It went wrong.",
        sent: true,
        address: null,
        partial: null,
      };
    }
    post.status = status;
    return {
      outcome: "answered",
      status,
      headers: restSeconds === undefined ? {} : { "retry-after": String(restSeconds) },
      // As many a receiver does, it quotes what it was sent.
      body: Buffer.from(post.body.slice(0, 2_000)),
      truncated: false,
      address: "192.0.2.1",
    };
  }

  #answer(url: string): Answer {
    const { dice, healing } = this.#world;
    const temper = this.#tempers.get(url);
    if (temper === undefined || (healing && temper.heals)) return well;
    return dice.weighted(temper.answers);
  }
}
