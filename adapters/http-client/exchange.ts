import http, { type Agent, type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { checkAddress, type Destinations } from "../../src/ports/destinations.ts";
import {
  type HttpOutcome,
  type HttpPhase,
  type HttpRequest,
  mostHeaderBytes,
} from "../../src/ports/http-client.ts";
import { Failure, failed, failureOf, timeout } from "./failures.ts";
import { Received } from "./received.ts";
import { dnsFailure, publicAddresses, type Resolve } from "./resolve.ts";
import type { Target } from "./target.ts";

/** The most that a byte of body takes on the wire, in chunks of one byte each, and some room. */
const wireBytesPerByte = 8;

/** What was written may have been read. */
const sentPhases = new Set<HttpPhase>(["request", "response", "body"]);

/** The rules that a connection's address was last found to be in keeping with. An agent keeps connections by host. */
const admitted = new WeakMap<Socket, Destinations>();

/** One request on the wire, to a URL that may be called as far as it says by itself, and its response. */
export function exchange(
  request: HttpRequest,
  target: Target,
  agent: Agent,
  resolve: Resolve,
): Promise<HttpOutcome> {
  return new Promise((settle) => new Exchange(request, target, settle).begin(agent, resolve));
}

/**
 * Ends once, by the first of: the response's end, more of it than is kept, the deadline, an error, the caller's signal; then nothing
 * more is read. Only a connection whose exchange went to its end is kept.
 */
class Exchange {
  readonly #request: HttpRequest;
  readonly #target: Target;
  readonly #settle: (outcome: HttpOutcome) => void;
  #phase: HttpPhase;
  #over = false;
  #timer: NodeJS.Timeout | undefined;
  /** Undefined while no name is looked up, which is mostly. */
  #lookup: AbortController | undefined;
  #call: ClientRequest | undefined;
  #socket: Socket | undefined;
  #address: string | null = null;
  /** What may still come over the wire. */
  #wireBytes: number;
  #received: Received | undefined;

  constructor(request: HttpRequest, target: Target, settle: (outcome: HttpOutcome) => void) {
    this.#request = request;
    this.#target = target;
    this.#settle = settle;
    this.#phase = isIP(target.host) === 0 ? "dns" : "connect";
    this.#wireBytes = mostHeaderBytes + wireBytesPerByte * request.most_body_bytes;
  }

  begin(agent: Agent, resolve: Resolve): void {
    const { method, headers, body, signal, deadline_ms } = this.#request;
    this.#timer = setTimeout(() => this.#fail(timeout(this.#phase)), deadline_ms);
    if (signal?.aborted === true) return this.#abort();
    signal?.addEventListener("abort", this.#abort);
    const options = {
      ...this.#target,
      method,
      agent,
      headers: { ...headers, "accept-encoding": "identity" },
      maxHeaderSize: mostHeaderBytes,
      insecureHTTPParser: false,
      lookup: this.#lookUp(resolve),
    };
    try {
      this.#call = (this.#isSecure ? https : http).request(options);
    } catch {
      this.#fail(new Failure("request_invalid", "The request's path or headers can't be written."));
      return;
    }
    this.#call
      .on("socket", (socket) => this.#use(socket))
      // An early answer may come before the upload is through.
      .on("finish", () => this.#advance("request", "response"))
      .on("response", (head) => this.#read(head))
      .on("upgrade", (_, socket) => {
        socket.destroy();
        this.#fail(
          new Failure(
            "protocol_switched",
            "The response changed to a protocol that was not asked for (101).",
          ),
        );
      })
      .on("error", this.#failBy)
      .end(body ?? undefined);
  }

  get #isSecure(): boolean {
    return this.#target.protocol === "https:";
  }

  #advance(from: HttpPhase, to: HttpPhase): void {
    if (this.#phase === from) this.#phase = to;
  }

  #lookUp(resolve: Resolve): LookupFunction {
    return (name, _options, callback) => {
      this.#lookup = new AbortController();
      const looking = publicAddresses(resolve, name, this.#request.to, this.#lookup.signal);
      const answer = async (): Promise<void> => {
        let addresses;
        try {
          addresses = await looking;
        } catch (error) {
          callback(dnsFailure(error), []);
          return;
        }
        this.#advance("dns", "connect");
        callback(null, addresses);
      };
      void answer();
    };
  }

  #use(socket: Socket): void {
    this.#socket = socket.on("data", this.#count);
    if (!socket.connecting) return this.#connected(socket, "request");
    socket.once("connect", () => this.#connected(socket, this.#isSecure ? "tls" : "request"));
    socket.once("secureConnect", () => this.#advance("tls", "request"));
  }

  /** The look-up was checked; this is for literals, and for a connection that was kept from when other rules were in force. */
  #connected(socket: Socket, next: HttpPhase): void {
    const { to } = this.#request;
    const address = socket.remoteAddress ?? "";
    const refusal =
      admitted.get(socket) === to ? undefined : checkAddress(this.#target.host, address, to);
    if (refusal !== undefined) return this.#fail(new Failure(refusal.code, refusal.message));
    admitted.set(socket, to);
    this.#address = address;
    this.#phase = next;
  }

  readonly #count = (chunk: Uint8Array): void => {
    this.#wireBytes -= chunk.length;
    if (this.#wireBytes < 0) {
      this.#fail(new Failure("response_too_long", "Far more came than such a response needs."));
    }
  };

  #read(head: IncomingMessage): void {
    const received = new Received(head, this.#request.most_body_bytes);
    this.#received = received;
    this.#phase = "body";
    head
      .on("data", (chunk: Uint8Array) => {
        if (!received.keep(chunk)) this.#answer(received, true);
      })
      .on("end", () => this.#answer(received, false))
      .on("error", this.#failBy);
  }

  #answer(received: Received, truncated: boolean): void {
    if (this.#over) return;
    this.#end({
      outcome: "answered",
      address: this.#address ?? "",
      ...received.response(truncated),
    });
    if (truncated || this.#call?.writableFinished !== true) this.#call?.destroy();
  }

  readonly #failBy = (error: Error): void => {
    // What comes after a whole response is not this exchange's.
    if (this.#received?.isWhole === true) return this.#answer(this.#received, false);
    const failure = failureOf(error, this.#phase);
    const unanswered = this.#received === undefined && /_(?:closed|reset)$/.test(failure.code);
    if (!unanswered || this.#call?.reusedSocket !== true) return this.#fail(failure);
    const lost = "A kept connection broke; whether the request was heard isn't known.";
    this.#fail(new Failure("kept_connection_lost", lost));
  };

  readonly #abort = (): void => this.#fail(new Failure("aborted", "The exchange was given up."));

  #fail(failure: Failure): void {
    if (this.#over) return;
    this.#end({
      ...failed(failure),
      sent: sentPhases.has(this.#phase),
      address: this.#address,
      partial: this.#received?.response(false) ?? null,
    });
    this.#call?.destroy();
  }

  #end(outcome: HttpOutcome): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#abort);
    this.#lookup?.abort("over");
    this.#socket?.off("data", this.#count);
    this.#settle(outcome);
  }
}
