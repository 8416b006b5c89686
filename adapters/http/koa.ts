import type { IncomingMessage, ServerResponse } from "node:http";
import type { Mountable } from "../../src/api/index.ts";
import { checkMount, type MountOptions } from "./mount.ts";
import { NodeRequest } from "./node-request.ts";
import { breakOff, closesTooEarly, send } from "./node-response.ts";
import { isOwnPath, originForm, stripBasePath } from "./paths.ts";
import { earlierResponsesSent, mustWait } from "./pipelining.ts";

/** The parts of a Koa context that the handler uses (Koa 2 or 3). */
export interface KoaContext {
  /** Node's request. */
  readonly req: IncomingMessage;
  /** Node's response. */
  readonly res: ServerResponse;
  /** Path and query, without the prefix of koa-mount. */
  readonly url: string;
  /** Path and query as the client sent them. */
  readonly originalUrl: string;
  /** Koa's request, with the body that an earlier body parser read, if any. */
  readonly request: {
    /** The body, if an earlier body parser read it. */
    readonly body?: unknown;
    /** The body's bytes, if an earlier body parser kept them. */
    readonly rawBody?: unknown;
  };
  /** The response's status. */
  status: number;
  /** The response's body. */
  body: unknown;
  /** `false` makes Koa leave the response to the handler. */
  respond?: boolean;
  /** Sets response headers. */
  set(headers: { [name: string]: string }): void;
}

/**
 * Returns a middleware for `app.use(koaHandler(engine))`. It handles the requests under `/v1`, or
 * under the base path's `/v1`, and passes the others on. A page, such as `inboxHandler(engine)`, in
 * place of the engine handles all requests under the base path.
 *
 * Mount it before body parsers where you can. They refuse malformed and large bodies with
 * responses of their own.
 * @throws TidingsError `invalid_option` when an argument is wrong or an option is unknown
 */
export function koaHandler(
  engine: Mountable,
  options: MountOptions = {},
): (context: KoaContext, next: () => Promise<unknown>) => Promise<void> {
  checkMount("koaHandler", engine, options);
  const strip = stripBasePath(options);
  return async (context, next) => {
    const target = strip(originForm(context.url));
    if (target === null || !isOwnPath(engine, target)) {
      await next();
      return;
    }
    if (mustWait(context.res) && !(await earlierResponsesSent(context.res))) {
      context.respond = false;
      return;
    }
    const { body, rawBody } = context.request;
    const request = new NodeRequest(context.req, context.res, {
      url: originForm(context.originalUrl),
      target,
      parsed: { body, rawBody },
      original: context,
    });
    const response = await engine.api.handle(request);
    const { body: content } = response;
    const isWhole =
      typeof content === "string" || content instanceof Uint8Array || content === null;
    if (isWhole && !closesTooEarly(context.res)) {
      // The body comes first, because setting it also sets a status and a content type.
      context.body = content instanceof Uint8Array ? bufferOf(content) : content;
      context.status = response.status;
      context.set({ ...response.headers });
      return;
    }
    // Koa would read ahead of a slow client, leave the socket open after a failure, and close it
    // before the client has sent all of its request.
    context.respond = false;
    await send(response, context.res).catch(() => breakOff(context.res));
  };
}

/** Koa takes bytes only as a Buffer. It shares the memory. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
