import type { IncomingMessage, ServerResponse } from "node:http";
import type { Mountable } from "../../src/api/index.ts";
import { bodyEndedEarly, describe, TidingsError } from "../../src/kernel/index.ts";
import { checkMount } from "./mount.ts";
import { NodeRequest, type ParserResult } from "./node-request.ts";
import { respond } from "./node-response.ts";
import { isOwnPath, originForm } from "./paths.ts";

/** The parts of an Express request that the handler uses (Express 4 or 5). */
export interface ExpressRequest extends IncomingMessage {
  /** Path and query as the client sent them. */
  readonly originalUrl: string;
  /** The body that an earlier body parser read, if any. */
  readonly body?: unknown;
  /** The body's bytes, if an earlier body parser kept them. */
  readonly rawBody?: unknown;
}

/** Passes a request on to the next handler of Express, or an error to the next error handler. */
export type ExpressNext = (error?: unknown) => void;

/**
 * Two handlers for `app.use`: one for requests, and one for the errors of body parsers that are
 * mounted earlier.
 */
export type ExpressHandlers = [
  (request: ExpressRequest, response: ServerResponse, next: ExpressNext) => void,
  (error: unknown, request: ExpressRequest, response: ServerResponse, next: ExpressNext) => void,
];

/**
 * Returns handlers for `app.use(expressHandler(engine))` or `app.use("/api", …)`. They handle the
 * requests under `/v1` and pass the others on. A page, such as `inboxHandler(engine)`, in place of
 * the engine handles all requests under its path: `app.use("/desk", expressHandler(page))`.
 *
 * Mount them before body parsers where you can. A body parser has its own size limit, and most do
 * not keep the bytes that a carrier's signature covers.
 * @throws TidingsError `invalid_option` when `engine` is no engine, or more arguments are given
 */
export function expressHandler(engine: Mountable): ExpressHandlers;
export function expressHandler(engine: Mountable, ...others: readonly unknown[]): ExpressHandlers {
  checkMount("expressHandler", engine);
  if (others.length > 0) {
    throw new TidingsError(
      "invalid_option",
      `expressHandler: expected only an engine, but also got ${describe(others[0])}. Mount it ` +
        'under a base path with app.use("/api", expressHandler(engine)).',
    );
  }
  const handle = (
    message: ExpressRequest,
    response: ServerResponse,
    parsed: ParserResult,
  ): void => {
    const request = new NodeRequest(message, response, {
      url: originForm(message.originalUrl),
      target: originForm(message.url),
      parsed,
      original: message,
    });
    void respond(engine.api, request, response);
  };
  return [
    (message, response, next) => {
      if (isOwnPath(engine, originForm(message.url))) {
        handle(message, response, { body: message.body, rawBody: message.rawBody });
      } else next();
    },
    (error, message, response, next) => {
      // Otherwise the client would get Express's error page instead of a problem document. The
      // error holds the text that the parser could not read, so the engine can report it itself.
      if (isOwnPath(engine, originForm(message.url)) && isParserError(error)) {
        handle(message, response, {
          body: error.body,
          rawBody: undefined,
          refusal: refusalOf(error),
        });
      } else next(error);
    },
  ];
}

/** The parts of a body-parser error that the handler uses. */
interface ParserError {
  readonly type?: unknown;
  readonly body?: unknown;
  readonly limit?: unknown;
}

/** The `type` of body-parser's errors. That of the host's `verify` function is not one of them. */
const parserErrors: ReadonlySet<string> = new Set([
  "charset.unsupported",
  "encoding.unsupported",
  "entity.parse.failed",
  "entity.too.large",
  "request.aborted",
  "request.size.invalid",
]);

/**
 * Tells body-parser's errors from the host application's by their `type`. If it cannot decompress a
 * body, it passes the error of `node:zlib` on, which has only a code.
 */
function isParserError(error: unknown): error is ParserError {
  if (!(error instanceof Error)) return false;
  const { type, code } = error as { readonly type?: unknown; readonly code?: unknown };
  return typeof type === "string"
    ? parserErrors.has(type)
    : typeof code === "string" && /^(?:Z_|ZSTD_error_|ERR__ERROR_)/.test(code);
}

/**
 * Returns the problem of a request of which the parser has read bytes and kept none. Of its other
 * errors, some come before it reads, and `entity.parse.failed` keeps the text.
 */
function refusalOf({ type, limit }: ParserError): TidingsError {
  if (type === "entity.too.large") {
    return new TidingsError(
      "body_too_large",
      `The body is larger than ${String(limit)} bytes, the limit of the body parser that is ` +
        "mounted before tidings.",
    );
  }
  if (type !== undefined) return bodyEndedEarly();
  const message = "The body does not have the encoding of its `Content-Encoding` header.";
  return new TidingsError("malformed_request", message);
}
