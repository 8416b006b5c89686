import type { IncomingMessage, ServerResponse } from "node:http";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { Mountable } from "../../src/api/http.ts";
import { isOurs } from "./mount.ts";
import { NodeRequest, type Parsed } from "./node-request.ts";
import { respond } from "./node-response.ts";

/** What is used of an Express request, version 4 or 5. */
export interface ExpressRequest extends IncomingMessage {
  readonly originalUrl: string;
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

type Next = (error?: unknown) => void;

/** What `app.use` takes: a handler, and one for what a body parser before it refused. */
export type ExpressHandlers = [
  (request: ExpressRequest, response: ServerResponse, next: Next) => void,
  (error: unknown, request: ExpressRequest, response: ServerResponse, next: Next) => void,
];

/**
 * For `app.use(expressHandler(engine))`, or `app.use("/api", …)`: answers what lies under `/v1` and passes on the
 * rest. Mount it before body parsers where you can: they have limits of their own and keep no bytes for signatures.
 */
export function expressHandler(engine: Mountable): ExpressHandlers {
  const answer = (message: ExpressRequest, response: ServerResponse, parsed: Parsed): void => {
    const { originalUrl, url = "/" } = message;
    const request = new NodeRequest(message, response, originalUrl, url, parsed);
    void respond(engine.api, request, response);
  };
  return [
    (message, response, next) => {
      if (isOurs(message.url ?? "/")) {
        answer(message, response, { body: message.body, rawBody: message.rawBody });
      } else next();
    },
    (error, message, response, next) => {
      // Else a client would get Express's page for malformed JSON instead of our problem body. The text that the
      // parser gave up is on the error, so that it is refused by our own rules, in their order.
      if (isOurs(message.url ?? "/") && isParserError(error)) {
        answer(message, response, {
          body: error.body,
          rawBody: undefined,
          refusal: refusalOf(error),
        });
      } else next(error);
    },
  ];
}

interface ParserError {
  readonly type: string;
  readonly body?: unknown;
  readonly limit?: unknown;
}

/** What body-parser throws: its `type` tells its errors from the host's. */
function isParserError(error: unknown): error is ParserError {
  if (!(error instanceof Error) || !("type" in error) || typeof error.type !== "string") {
    return false;
  }
  return /^(?:entity|encoding|charset|request)\.[a-z.]+$/.test(error.type);
}

function refusalOf({ type, limit }: ParserError): TidingsError {
  return type === "entity.too.large"
    ? new TidingsError("body_too_large", `The body is larger than ${String(limit)} bytes.`)
    : new TidingsError("malformed_request", "The body ended early.");
}
