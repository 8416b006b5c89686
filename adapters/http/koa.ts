import type { IncomingMessage, ServerResponse } from "node:http";
import type { Mountable } from "../../src/api/http.ts";
import { type MountOptions, below, isOurs } from "./mount.ts";
import { NodeRequest } from "./node-request.ts";
import { send } from "./node-response.ts";

/** What is used of a Koa context, version 2 or 3. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Path and query; koa-mount takes its prefix away. */
  readonly url: string;
  readonly originalUrl: string;
  readonly request: { readonly body?: unknown; readonly rawBody?: unknown };
  status: number;
  body: unknown;
  respond?: boolean;
  set(headers: { [name: string]: string }): void;
}

/**
 * For `app.use(koaHandler(engine))`: answers what lies under `/v1`, or under the base path's, and passes on the rest.
 * Best mounted before a body parser, which would answer malformed and large bodies in its own way.
 */
export function koaHandler(
  engine: Mountable,
  options: MountOptions = {},
): (context: KoaContext, next: () => Promise<unknown>) => Promise<void> {
  const inside = below(options);
  return async (context, next) => {
    const target = inside(context.url);
    if (target === null || !isOurs(target)) {
      await next();
      return;
    }
    const { body, rawBody } = context.request;
    const request = new NodeRequest(context.req, context.res, context.originalUrl, target, {
      body,
      rawBody,
    });
    const answer = await engine.api.handle(request);
    if (
      typeof answer.body === "string" ||
      answer.body instanceof Uint8Array ||
      answer.body === null
    ) {
      // The body first: setting it sets a status and a type too.
      context.body = answer.body instanceof Uint8Array ? Buffer.from(answer.body) : answer.body;
      context.status = answer.status;
      context.set({ ...answer.headers });
      return;
    }
    // Koa would buffer ahead of a slow reader, and after a failure leave the socket open.
    context.respond = false;
    await send(answer, context.res).catch(() => context.res.destroy());
  };
}
