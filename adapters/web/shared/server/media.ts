/** Fetches the media of messages for a page, so that the browser never contacts their servers. */
import * as z from "zod";
import type { ApiResponse, RequestHandler } from "../../../../src/api/index.ts";
import { TidingsError, type AccountId } from "../../../../src/kernel/index.ts";
import {
  destinations,
  type Clock,
  type HttpAnswer,
  type HttpClient,
} from "../../../../src/ports/index.ts";

/** Only the public Internet, whatever the engine's own option `http` allows to webhooks. */
const publicHosts = destinations({ http: true });
const maxBytes = 10 * 1_024 * 1_024;
/** The time for a file with all its redirects. */
const deadlineMs = 15_000;
const maxRedirects = 3;
/** Files of one account in progress at once, so that it leaves room for other accounts. */
const maxOfAccount = 4;
/** Files in progress at once, which limits the memory. */
const maxAtOnce = 16;

/** The types that a browser shows without running anything. SVG may contain scripts. */
const shown = /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp)|(?:audio|video)\/[\w.+-]+)$/;

const messageSchema = z.object({ media: z.array(z.object({ url: z.string() })) });

/** Fetches files of messages for one page. */
export class MediaFetcher {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #client: HttpClient | undefined;
  /** The account of each file in progress. */
  readonly #inProgress: AccountId[] = [];

  constructor({ clock, httpClient }: RequestHandler["ports"]) {
    this.#clock = clock;
    this.#client = httpClient;
  }

  /**
   * Returns the file at `index` of a message. `message` is the response of `GET /v1/messages/:id`.
   * @throws TidingsError `not_found`, `not_configured`, `overloaded`, `media_unavailable`
   */
  async fetch(
    account_id: AccountId,
    message: ApiResponse,
    index: number,
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    const json: unknown = typeof message.body === "string" ? JSON.parse(message.body) : undefined;
    const url = messageSchema.parse(json).media[index]?.url;
    if (url === undefined) {
      throw new TidingsError("not_found", "The message has no such file, or was redacted.");
    }
    const client = this.#client;
    if (client === undefined) {
      throw new TidingsError(
        "not_configured",
        "The page shows pictures only if the engine has the option `http`, such as " +
          "`http: { client: httpClient() }`. Open the link instead.",
      );
    }
    const ofAccount = this.#inProgress.filter((each) => each === account_id);
    if (ofAccount.length >= maxOfAccount || this.#inProgress.length >= maxAtOnce) {
      throw new TidingsError("overloaded", "Other pictures are being loaded. Try again.");
    }
    this.#inProgress.push(account_id);
    try {
      return fileOf(await this.#load(client, url, signal));
    } finally {
      this.#inProgress.splice(this.#inProgress.indexOf(account_id), 1);
    }
  }

  async #load(client: HttpClient, first: string, signal: AbortSignal): Promise<HttpAnswer> {
    const end = this.#clock.monotonic() + deadlineMs;
    let url = first;
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const left = Math.floor(end - this.#clock.monotonic());
      if (left <= 0) throw unavailable("The server takes too long.");
      const outcome = await client.send({
        method: "GET",
        url,
        to: publicHosts,
        headers: { Accept: "image/*, audio/*, video/*" },
        body: null,
        deadline_ms: left,
        max_body_bytes: maxBytes,
        signal,
      });
      if (outcome.outcome === "failed") throw unavailable(outcome.message);
      const { location } = outcome.headers;
      if (outcome.status < 300 || outcome.status > 399 || location === undefined) return outcome;
      const next = URL.parse(location, url);
      if (next === null) throw unavailable("The server redirects to an invalid URL.");
      url = next.href;
    }
    throw unavailable(`The server redirects more than ${maxRedirects} times.`);
  }
}

function fileOf({ status, headers, body, truncated }: HttpAnswer): ApiResponse {
  if (status !== 200) throw unavailable(`The server responded with ${status}.`);
  if (truncated) throw unavailable(`The file is larger than ${maxBytes / 1_024 / 1_024} MiB.`);
  const type = (headers["content-type"] ?? "").split(";", 1).join("").trim().toLowerCase();
  if (!shown.test(type)) throw unavailable("It is not a picture, a sound or a video.");
  return { status: 200, headers: { "Content-Type": type }, body };
}

function unavailable(why: string): TidingsError {
  return new TidingsError("media_unavailable", `The file could not be loaded. ${why}`);
}
