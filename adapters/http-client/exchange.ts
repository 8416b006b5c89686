import http, { type Agent, type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { ByteCollector, headersByName } from "../../src/kernel/index.ts";
import {
  checkAddress,
  maxHeaderBytes,
  type Destinations,
  type HttpOutcome,
  type HttpPhase,
  type HttpRequest,
  type HttpResponse,
} from "../../src/ports/index.ts";
import { allowedAddresses, dnsFailure, type Resolve } from "./dns.ts";
import { failed, Failure, failureOf, timeout } from "./failures.ts";

/**
 * A body that arrives in chunks of one byte takes six bytes on the wire for each. The rest is
 * margin.
 */
const wireBytesPerByte = 8;

/** In these phases the server may have read the request. */
const sentPhases = new Set<HttpPhase>(["request", "response", "body"]);

/**
 * The destinations that last allowed a connection's address. An agent keeps connections by host, so
 * a later request with other destinations may get the same connection.
 */
const allowedBy = new WeakMap<Socket, Destinations>();

/** The parts of a URL, as `http.request` takes them. */
export interface Target {
  readonly protocol: string;
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

/**
 * Sends one request and reads its response. The target's URL has been checked. The address that the
 * socket connects to is checked here.
 */
export function exchange(
  request: HttpRequest,
  target: Target,
  agent: Agent,
  resolve: Resolve,
): Promise<HttpOutcome> {
  return new Promise((settle) => new Exchange(request, target, settle).begin(agent, resolve));
}

/**
 * One request and its response. It settles once, by the first of: the end of the response, more
 * body bytes than the limit, the deadline, an error, the caller's signal. Nothing is read after
 * that. A connection is kept only when its exchange completed.
 */
class Exchange {
  readonly #request: HttpRequest;
  readonly #target: Target;
  readonly #settle: (outcome: HttpOutcome) => void;
  #phase: HttpPhase;
  #isSettled = false;
  #timer: NodeJS.Timeout | undefined;
  /** Aborts the name look-up. Undefined when no name was looked up. */
  #lookup: AbortController | undefined;
  #call: ClientRequest | undefined;
  #socket: Socket | undefined;
  #address: string | null = null;
  /** How many bytes the server may still send. */
  #wireBytes: number;
  #received: Received | undefined;

  constructor(request: HttpRequest, target: Target, settle: (outcome: HttpOutcome) => void) {
    this.#request = request;
    this.#target = target;
    this.#settle = settle;
    this.#phase = isIP(target.host) === 0 ? "dns" : "connect";
    this.#wireBytes = maxHeaderBytes + wireBytesPerByte * request.max_body_bytes;
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
      maxHeaderSize: maxHeaderBytes,
      insecureHTTPParser: false,
      lookup: this.#lookupFunction(resolve),
    };
    try {
      this.#call = (this.#isSecure ? https : http).request(options);
    } catch {
      this.#fail(
        new Failure(
          "request_invalid",
          "The request's path or headers contain characters that HTTP does not allow.",
        ),
      );
      return;
    }
    this.#call
      .on("socket", (socket) => this.#onSocket(socket))
      // A response may arrive before the upload is complete.
      .on("finish", () => this.#advance("request", "response"))
      .on("response", (head) => this.#onResponse(head))
      .on("upgrade", (_, socket) => {
        socket.destroy();
        this.#fail(
          new Failure(
            "protocol_switched",
            "The server switched to another protocol (status 101), which the request did not " +
              "ask for.",
          ),
        );
      })
      .on("error", this.#onError)
      .end(body ?? undefined);
  }

  get #isSecure(): boolean {
    return this.#target.protocol === "https:";
  }

  #advance(from: HttpPhase, to: HttpPhase): void {
    if (this.#phase === from) this.#phase = to;
  }

  #lookupFunction(resolve: Resolve): LookupFunction {
    return (name, _options, callback) => {
      this.#lookup = new AbortController();
      const found = allowedAddresses(resolve, name, this.#request.to, this.#lookup.signal);
      const report = async (): Promise<void> => {
        let addresses;
        try {
          addresses = await found;
        } catch (error) {
          callback(dnsFailure(error), []);
          return;
        }
        this.#advance("dns", "connect");
        callback(null, addresses);
      };
      void report();
    };
  }

  #onSocket(socket: Socket): void {
    this.#socket = socket.on("data", this.#countBytes);
    if (!socket.connecting) return this.#onConnected(socket, "request");
    socket.once("connect", () => this.#onConnected(socket, this.#isSecure ? "tls" : "request"));
    socket.once("secureConnect", () => this.#advance("tls", "request"));
  }

  /**
   * Checks the address again. No look-up checked the address of a URL that holds an IP address, or
   * of a connection that was kept from a request with other destinations.
   */
  #onConnected(socket: Socket, next: HttpPhase): void {
    const { to } = this.#request;
    const address = socket.remoteAddress ?? "";
    const refusal =
      allowedBy.get(socket) === to ? undefined : checkAddress(this.#target.host, address, to);
    if (refusal !== undefined) return this.#fail(new Failure(refusal.code, refusal.message));
    allowedBy.set(socket, to);
    this.#address = address;
    this.#phase = next;
  }

  readonly #countBytes = (chunk: Uint8Array): void => {
    this.#wireBytes -= chunk.length;
    if (this.#wireBytes < 0) {
      this.#fail(
        new Failure(
          "response_too_long",
          "The server sent far more bytes than a response of the allowed size needs.",
        ),
      );
    }
  };

  #onResponse(head: IncomingMessage): void {
    const received = new Received(head, this.#request.max_body_bytes);
    this.#received = received;
    this.#phase = "body";
    head
      .on("data", (chunk: Uint8Array) => {
        if (!received.keep(chunk)) this.#succeed(received, true);
      })
      .on("end", () => this.#succeed(received, false))
      .on("error", this.#onError);
  }

  #succeed(received: Received, truncated: boolean): void {
    if (this.#isSettled) return;
    this.#settleWith({
      outcome: "answered",
      address: this.#address ?? "",
      ...received.response(truncated),
    });
    if (truncated || this.#call?.writableFinished !== true) this.#call?.destroy();
  }

  readonly #onError = (error: Error): void => {
    // An error after the whole response does not concern this exchange.
    if (this.#received?.isComplete === true) {
      this.#received.emitRest();
      return this.#succeed(this.#received, false);
    }
    const failure = failureOf(error, this.#phase);
    const unanswered = this.#received === undefined && /_(?:closed|reset)$/.test(failure.code);
    if (!unanswered || this.#call?.reusedSocket !== true) return this.#fail(failure);
    this.#fail(
      new Failure(
        "kept_connection_lost",
        "A reused connection broke before the response. The server may have received the request.",
      ),
    );
  };

  readonly #abort = (): void =>
    this.#fail(new Failure("aborted", "The caller aborted the request."));

  #fail(failure: Failure): void {
    if (this.#isSettled) return;
    this.#settleWith({
      ...failed(failure),
      sent: sentPhases.has(this.#phase),
      address: this.#address,
      partial: this.#received?.response(false) ?? null,
    });
    this.#call?.destroy();
  }

  #settleWith(outcome: HttpOutcome): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener("abort", this.#abort);
    this.#lookup?.abort("over");
    this.#socket?.off("data", this.#countBytes);
    this.#settle(outcome);
  }
}

/** The part of a response that has arrived, with at most `maxBodyBytes` of its body. */
class Received {
  readonly #head: IncomingMessage;
  readonly #body = new ByteCollector();
  #bytesLeft: number;

  constructor(head: IncomingMessage, maxBodyBytes: number) {
    this.#head = head;
    this.#bytesLeft = maxBodyBytes;
  }

  get isComplete(): boolean {
    return this.#head.complete;
  }

  /** Keeps as much of a chunk as the limit allows. Returns whether that was all of it. */
  keep(chunk: Uint8Array): boolean {
    const fits = chunk.length <= this.#bytesLeft;
    const part = fits ? chunk : chunk.subarray(0, this.#bytesLeft);
    this.#body.add(part);
    this.#bytesLeft -= part.length;
    return fits;
  }

  /**
   * Emits what is left of a complete body. Bytes that follow the response are an error, which comes
   * before the body that arrived with them.
   */
  emitRest(): void {
    while (this.#head.read() !== null);
  }

  response(truncated: boolean): HttpResponse {
    return {
      status: this.#head.statusCode ?? 0,
      headers: headersByName(this.#head.rawHeaders),
      body: new Uint8Array(this.#body.bytes),
      truncated,
    };
  }
}
