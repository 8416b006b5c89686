/** What the operations of the OpenAPI document refer to. */
import { idempotencyField } from "../requests/idempotency-key.ts";
import { tokenField } from "../requests/url-parameters.ts";
import type { Schemas } from "./schemas.ts";

export const ref = (kind: string, name: string): { $ref: string } => ({
  $ref: `#/components/${kind}/${name}`,
});

export function componentsOf(schemas: Schemas): object {
  return {
    securitySchemes,
    parameters,
    headers,
    responses: errorResponses(schemas),
    schemas: schemas.components,
  };
}

export const rateLimitHeaders = {
  "RateLimit-Policy": ref("headers", "RateLimitPolicy"),
  RateLimit: ref("headers", "RateLimit"),
};

const securitySchemes = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description:
      "An API key: `Authorization: Bearer tdg_live_…`. The key determines the mode, sandbox " +
      "or live.",
  },
  visitorToken: {
    type: "http",
    scheme: "bearer",
    description: "The token of the webchat session in the path.",
  },
  visitorTokenInQuery: {
    type: "apiKey",
    in: "query",
    name: tokenField,
    description: "The visitor's token for an `EventSource`, which cannot send headers.",
  },
};

const parameters = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "For 24 hours, a repeated request with the same key and input returns the same response " +
      `and has no further effect. Plain or quoted. The body field \`${idempotencyField}\` is an ` +
      "alternative.",
    schema: ref("schemas", "IdempotencyKey"),
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The id of the last event received. The stream continues after it.",
    schema: { type: "string" },
  },
};

const header = (description: string, schema: object): object => ({ description, schema });

const headers = {
  RequestId: header("The id of the request, for support and logs.", { type: "string" }),
  RateLimitPolicy: header(
    "The limit: `q` requests in any `w` seconds (draft-ietf-httpapi-ratelimit-headers).",
    { type: "string" },
  ),
  RateLimit: header("`r` requests remain. The full limit is available again in `t` seconds.", {
    type: "string",
  }),
  RetryAfter: header("Seconds to wait.", { type: "integer", minimum: 0 }),
  IdempotentReplayed: header("`true` when this response repeats an earlier one.", {
    type: "string",
    const: "true",
  }),
  ETag: header("Names this version. With `If-None-Match`, an unchanged document is a 304.", {
    type: "string",
  }),
  WwwAuthenticate: header("`Bearer` with the error of the key (RFC 6750).", { type: "string" }),
};

function errorResponses(schemas: Schemas): object {
  const content = { "application/problem+json": { schema: schemas.output("problem") } };
  const requestId = { "Request-Id": ref("headers", "RequestId") };
  return {
    Problem: {
      description: "An error.",
      headers: {
        ...requestId,
        ...rateLimitHeaders,
        "Retry-After": ref("headers", "RetryAfter"),
        "Idempotent-Replayed": ref("headers", "IdempotentReplayed"),
        "WWW-Authenticate": ref("headers", "WwwAuthenticate"),
      },
      content,
    },
    Unauthorized: {
      description: "The API key or token is missing, wrong or expired.",
      headers: { ...requestId, "WWW-Authenticate": ref("headers", "WwwAuthenticate") },
      content,
    },
    RateLimited: {
      description: "Too many requests. The request had no effect.",
      headers: { ...requestId, ...rateLimitHeaders, "Retry-After": ref("headers", "RetryAfter") },
      content,
    },
  };
}
