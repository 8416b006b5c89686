import { createHmac } from "node:crypto";
import type {
  Clock,
  HttpClient,
  HttpFailure,
  HttpFailureCode,
  HttpOutcome,
  HttpRequest,
} from "../../../src/ports/index.ts";
import { callWhileAlive, never } from "../world/engine-run.ts";
import { maxDelayMs } from "../world/faults.ts";
import { joinWorld, type RunContext } from "../world/run-context.ts";
import { shortId } from "../world/story.ts";
import {
  eventIn,
  responseOf,
  type AnsweredRequest,
  type LostResponse,
  type ReceiverOutcome,
  type ReceiverScript,
  type WebhookRequest,
} from "./script.ts";

const defaultAfterMs = 100;
/** How old a signature may be: as old as libraries for Standard Webhooks accept. */
const maxSignatureAgeMs = 5 * 60_000;
/** From the range for documentation, RFC 5737. */
const address = "192.0.2.1";

/** How an engine reaches the receiver. */
interface Link {
  readonly clock: Clock;
  /** Undefined outside of a world. */
  readonly context: RunContext | undefined;
}

/** What a test decides about a receiver. */
interface ReceiverSettings {
  readonly script: ReceiverScript;
  readonly onRequest: ((request: WebhookRequest) => void) | undefined;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type OpenRequest = Writable<WebhookRequest>;

/** What is behind the HTTP clients of a scripted receiver. It records every request. */
export class ReceiverCore {
  readonly requests: OpenRequest[] = [];
  readonly #settings: ReceiverSettings;
  readonly #secrets = new Map<string, Set<string>>();
  readonly #counts = new Map<string, number>();
  #world: RunContext["world"] | undefined;

  constructor(settings: ReceiverSettings) {
    this.#settings = settings;
  }

  trust(url: string, secret: string): void {
    const secrets = this.#secrets.get(url) ?? new Set();
    this.#secrets.set(url, secrets.add(secret));
  }

  /** The HTTP client of an engine in a world. A receiver belongs to one world. */
  join(context: RunContext): HttpClient {
    const { world, run } = context;
    this.#world = joinWorld("receiver", this.#world, world);
    const link = { clock: world.clock, context };
    return {
      send: (request) => callWhileAlive(run, () => this.#send(link, request)),
      close() {},
    };
  }

  /** The HTTP client of an engine outside of a world. */
  client(clock: Clock): HttpClient {
    return { send: (request) => this.#send({ clock, context: undefined }, request), close() {} };
  }

  async #send(link: Link, sent: HttpRequest): Promise<HttpOutcome> {
    const request = this.#record(link, sent);
    if (request === undefined) return answered(404, {}, "Expected the event of a webhook.");
    const begunAt = link.clock.monotonic();
    let hasArrived = false;
    const exchange = this.#exchange(link, request, sent, () => {
      hasArrived = true;
    });
    const { context, clock } = link;
    // Undefined if the process of the engine ends first.
    const outcome = await (context === undefined
      ? exchange
      : Promise.race([exchange, context.run.ended]));
    request.ended_at = clock.now();
    request.duration_ms = clock.monotonic() - begunAt;
    request.abandoned = outcome === undefined || sent.signal?.aborted === true;
    if (outcome?.outcome === "answered") request.outcome = "answered";
    else if (request.status !== null) request.outcome = "answer_lost";
    else request.outcome = hasArrived ? "hangs" : "unreachable";
    return outcome ?? never();
  }

  /** Undefined if the request has no event, so that it is not from a webhook. */
  #record({ clock, context }: Link, { url, headers, body }: HttpRequest): OpenRequest | undefined {
    const text = Buffer.from(body ?? []).toString();
    const event = eventIn(text);
    if (event === undefined) return undefined;
    const name = `${url} ${event.id}`;
    const number = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, number);
    const at = clock.now();
    const received = {
      url,
      event,
      headers: Object.fromEntries(
        Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]),
      ),
      body: text,
      number,
      started_at: context?.clock.now() ?? at,
      at,
      engine: context?.run.name ?? "",
    };
    const request: OpenRequest = {
      ...received,
      signature: this.#checkSignature(received),
      outcome: null,
      status: null,
      ended_at: null,
      duration_ms: null,
      abandoned: false,
    };
    this.#settings.onRequest?.(request);
    this.requests.push(request);
    return request;
  }

  #checkSignature({
    url,
    headers,
    body,
    at,
  }: Pick<WebhookRequest, "url" | "headers" | "body" | "at">): WebhookRequest["signature"] {
    const secrets = this.#secrets.get(url);
    if (secrets === undefined) return "unknown";
    const { "webhook-id": id, "webhook-timestamp": seconds } = headers;
    const signatures = (headers["webhook-signature"] ?? "").split(" ");
    const isSigned = [...secrets].some((secret) => {
      const hmac = createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"));
      return signatures.includes(`v1,${hmac.update(`${id}.${seconds}.${body}`).digest("base64")}`);
    });
    const age = Math.abs(at - Number(seconds) * 1_000);
    return isSigned && age <= maxSignatureAgeMs ? "valid" : "invalid";
  }

  async #exchange(
    link: Link,
    request: OpenRequest,
    sent: HttpRequest,
    onArrival: () => void,
  ): Promise<HttpOutcome> {
    const wait = waiter(link.clock, sent);
    const lost = await this.#travel(link, request, wait);
    if (lost !== undefined) return lost;
    const response = this.#respond(link, request);
    this.#note(request, describeResponse(response));
    if (response.outcome === "unreachable") return failed("connect_refused");
    onArrival();
    if (response.outcome === "hangs") return (await wait(Infinity)) ?? never();
    request.status = (response.outcome === "answered" ? response.status : undefined) ?? 200;
    const late = await wait(response.afterMs ?? defaultAfterMs);
    return late ?? this.#return(link, request, request.status, response);
  }

  /** The way to the receiver. Returns the failure if the request does not arrive. */
  async #travel(
    { context }: Link,
    request: OpenRequest,
    wait: Wait,
  ): Promise<HttpFailure | undefined> {
    if (context === undefined) return undefined;
    const { occurs, crash, isCutOff, world } = context;
    if (occurs("crashBeforePost", { call: "post" })) {
      crash(`before it posts ${shortId(request.event.id)} to ${request.url}`);
      return never();
    }
    if (isCutOff("internet") || occurs("postFailsBefore", { call: "post" })) {
      this.#note(request, "cannot be reached");
      return failed("connect_refused");
    }
    const isSlow = occurs("postSlow", { call: "post" });
    return isSlow ? wait(world.dice.between(1, maxDelayMs.post)) : undefined;
  }

  /** The way back to the engine. */
  #return(
    { context }: Link,
    request: OpenRequest,
    status: number,
    response: AnsweredRequest | LostResponse,
  ): HttpOutcome | Promise<never> {
    if (context?.occurs("crashAfterPost", { call: "post" }) === true) {
      context.crash(`before it gets the response to ${shortId(request.event.id)}`);
      return never();
    }
    if (
      response.outcome === "answer_lost" ||
      context?.isCutOff("internet") === true ||
      context?.occurs("postFailsAfter", { call: "post" }) === true
    ) {
      this.#note(request, "answers, and the response is lost");
      return failed("response_reset");
    }
    const { retryAfterSeconds, headers, body = "" } = response;
    const pause =
      retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
    return answered(status, { ...headers, ...pause }, body);
  }

  #respond({ context }: Link, request: WebhookRequest): ReceiverOutcome {
    if (context?.occurs("receiverHangs", { call: "post" }) === true) return { outcome: "hangs" };
    if (context?.occurs("receiverFails", { call: "post" }) === true) {
      return { outcome: "answered", status: 500 };
    }
    if (context?.occurs("receiverThrottles", { call: "post" }) === true) {
      const retryAfterSeconds = context.world.dice.between(1, 90);
      return { outcome: "answered", status: 429, retryAfterSeconds };
    }
    if (request.signature === "invalid") return { outcome: "answered", status: 401 };
    return responseOf(this.#settings.script, request);
  }

  #note({ engine, event, url, number }: WebhookRequest, what: string): void {
    const ids = Object.values(event.data).filter((each) => typeof each === "string");
    this.#world?.story.note(
      [engine, event.id, url, ...ids],
      `${url} ${what} for ${event.type} ${shortId(event.id)}, request ${number}, from ${engine}`,
    );
  }
}

/** Waits within the deadline of a request. Returns the failure that ended the wait, if any. */
type Wait = (ms: number) => Promise<HttpFailure | undefined>;

function waiter(clock: Clock, { deadline_ms, signal }: HttpRequest): Wait {
  const deadline = clock.monotonic() + deadline_ms;
  return async (ms) => {
    const left = Math.max(0, deadline - clock.monotonic());
    await clock.sleep(Math.min(ms, left), signal);
    if (signal?.aborted === true) return failed("aborted");
    return ms > left ? failed("response_timeout") : undefined;
  };
}

function describeResponse(response: ReceiverOutcome): string {
  switch (response.outcome) {
    case "answered":
      return `answers ${response.status ?? 200}`;
    case "answer_lost":
      return "gets a request";
    case "hangs":
      return "hangs";
    case "unreachable":
      return "cannot be reached";
  }
}

function answered(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): HttpOutcome {
  return {
    outcome: "answered",
    status,
    headers,
    body: Buffer.from(body),
    truncated: false,
    address,
  };
}

function failed(code: HttpFailureCode): HttpFailure {
  const sent = code !== "connect_refused";
  return {
    outcome: "failed",
    code,
    message: "The request failed.",
    sent,
    address: sent ? address : null,
    partial: null,
  };
}
