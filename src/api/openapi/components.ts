/** What the operations of the OpenAPI document refer to. */
import { idempotencyField } from "../requests/idempotency-key.ts";
import { tokenField } from "../requests/url-parameters.ts";
import { ref, type Schemas } from "./schemas.ts";
import {
  eventSchemas,
  webhookParameters,
  webhookResponses,
  type EventDescriptions,
} from "./webhooks.ts";

export function componentsOf(schemas: Schemas, events: EventDescriptions): object {
  return {
    securitySchemes,
    parameters: { ...parameters, ...webhookParameters },
    headers,
    responses: { ...errorResponses(schemas), ...webhookResponses },
    schemas: { ...schemas.components, ...eventSchemas(schemas.components, events) },
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
  const retryAfter = { "Retry-After": ref("headers", "RetryAfter") };
  const authenticate = { "WWW-Authenticate": ref("headers", "WwwAuthenticate") };
  const replayed = { "Idempotent-Replayed": ref("headers", "IdempotentReplayed") };
  return {
    Unauthorized: {
      description:
        "The API key or the visitor's token is missing, wrong or expired: `missing_api_key`, " +
        "`invalid_api_key`, `expired_api_key`, `missing_visitor_token`, `invalid_visitor_token`, " +
        "`expired_visitor_token`.",
      headers: { ...requestId, ...authenticate },
      content,
    },
    Forbidden: {
      description: "The API key lacks a scope: `insufficient_scope`. `detail` names the scope.",
      headers: { ...requestId, ...rateLimitHeaders, ...authenticate },
      content,
    },
    NotFound: {
      description:
        "There is no such resource: `not_found`. An id of another account or of the other mode " +
        "gets the same response.",
      headers: { ...requestId, ...rateLimitHeaders, ...replayed },
      content,
    },
    Invalid: {
      description:
        "The input is not valid: `validation_failed`. `errors` lists the fields. A message can " +
        "also be refused with `no_sender`, `recipient_opted_out` or `policy_denied`, and an " +
        "idempotency key that came with another input before with `idempotency_key_reused`.",
      headers: { ...requestId, ...rateLimitHeaders, ...replayed },
      content,
    },
    RateLimited: {
      description:
        "Too many requests: `rate_limited`. The request had no effect. An event stream gets " +
        "`too_many_streams` while the key or the account has as many open as it may have.",
      headers: { ...requestId, ...rateLimitHeaders, ...retryAfter },
      content,
    },
    Problem: {
      description:
        "Another error of the request. 400: `malformed_json`, `malformed_request`, " +
        "`invalid_cursor`. 403: `invalid_signature`. 405: `method_not_allowed`. 409: `conflict`, " +
        "`not_cancelable`, `not_editable`, `idempotency_in_progress`. 410: `erased`. 413: " +
        "`body_too_large`. 415: `unsupported_media_type`.",
      headers: { ...requestId, ...rateLimitHeaders, ...replayed },
      content,
    },
    ServerProblem: {
      description:
        "An error of the service. 500: `internal`, `invalid_option`. 501: `not_configured`. 503: " +
        "`storage_unavailable`, `storage_contended`, `storage_damaged`, `storage_newer`, " +
        "`storage_outdated`, `overloaded`, `shutting_down`. If `retryable` is true, repeat the " +
        "request with the same idempotency key.",
      headers: { ...requestId, ...rateLimitHeaders, ...retryAfter },
      content,
    },
  };
}
