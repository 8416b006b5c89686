import type * as z from "zod";
import { problemSchema, type Limits } from "../../kernel/index.ts";
import {
  isGuarded,
  takesKey,
  type ApiRoute,
  type Guarded,
  type Tag,
} from "../../operations/index.ts";
import { maxCallbackBytes } from "../../ports/index.ts";
import { idempotencyField } from "../requests/idempotency-key.ts";
import { parameterNames } from "../router.ts";
import { componentsOf, rateLimitHeaders } from "./components.ts";
import type { Describe } from "./descriptions.ts";
import { jsonSchemas, ref, type JsonSchema, type Schemas } from "./schemas.ts";
import { webhookItems, webhookTag } from "./webhooks.ts";

/** OpenAPI 3.1 */
export interface OpenApiDocument {
  /** The version of OpenAPI: 3.1.0. */
  readonly openapi: string;
  readonly [key: string]: unknown;
}

/**
 * Builds the document of the routes from the schemas that validate their requests, and from the
 * docstrings of their interfaces. It has no `servers`, because the path of the mount is known only
 * from a request.
 */
export function openApiDocument(
  routes: readonly ApiRoute[],
  tags: readonly Tag[],
  limits: Limits,
  describe: Describe,
): OpenApiDocument {
  const used = new Set(routes.map(({ tag }) => tag));
  const inputs = Object.fromEntries(
    routes
      .filter(isGuarded)
      .map(({ operation }): [string, z.ZodType] => [operation.name, operation.input(limits)]),
  );
  const outputs: Record<string, z.ZodType> = { problem: problemSchema };
  for (const route of routes) {
    if ("response" in route && route.response !== undefined) {
      outputs[route.operation.name] = route.response;
    }
  }
  const schemas = jsonSchemas(inputs, outputs, describe);
  const events = describe("EventMap")?.fields ?? {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[route.method.toLowerCase()] = operationOf(route, schemas);
  }
  return {
    openapi: "3.1.0",
    info,
    tags: [...tags.filter(({ name }) => used.has(name)), webhookTag],
    security: [{ apiKey: [] }],
    paths,
    webhooks: webhookItems(events),
    components: componentsOf(schemas, events),
  };
}

const info = {
  title: "tidings",
  version: "1",
  license: { name: "MIT", identifier: "MIT" },
  summary: "SMS, MMS and webchat: messages, conversations, contacts, agents and webhooks.",
  description: [
    "- **Authentication.** Send an API key as `Authorization: Bearer`. The key determines the " +
      "account, the mode (sandbox or live), and with its scopes what the client may do.",
    "- **Bodies** are JSON objects in UTF-8. Unknown fields are refused. If a key is repeated in " +
      "an object, the last value counts. Responses may gain fields.",
    "- **Times** in requests are ISO 8601 with seconds and `Z` or an offset. Times in responses " +
      "are in UTC with milliseconds.",
    "- **Queries.** A plus sign means a space, so send `+` as `%2B`. A parameter that is given " +
      "twice is refused.",
    "- **Lists** return `data`, `has_more` and `next_cursor`. Send `next_cursor` as `cursor` to " +
      "get the next page. A page can have fewer items than `limit` although more follow, so " +
      "continue while `has_more` is true.",
    "- **Idempotency.** Writes take an `Idempotency-Key`, so that a request whose response was " +
      "lost can be repeated safely.",
    "- **Errors** are `application/problem+json` (RFC 9457). Every error response is a " +
      "`Problem`, except that of `/v1/health`.",
    "- **Rate limit.** A key may make as many requests in any one second as `RateLimit-Policy` " +
      "says. One more gets 429 with `Retry-After`.",
  ].join("\n"),
};

function operationOf(route: ApiRoute, schemas: Schemas): object {
  const { operation, summary, tag } = route;
  const guarded = isGuarded(route) ? route : undefined;
  return {
    operationId: operation.name.replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    ...descriptionOf(route),
    tags: [tag],
    security: guarded === undefined ? [] : securityOf(guarded),
    ...(guarded === undefined ? openParameters(route) : requestOf(guarded, schemas)),
    responses: {
      ...successResponses(route, schemas),
      ...(guarded === undefined ? {} : errorResponses(guarded)),
      "4XX": ref("responses", "Problem"),
      "5XX": ref("responses", "ServerProblem"),
    },
  };
}

/** The errors that clients handle most. `4XX` and `5XX` cover the others. */
const errorResponses = (route: Guarded): object => ({
  401: ref("responses", "Unauthorized"),
  ...("scopes" in route && route.scopes.length > 0 ? { 403: ref("responses", "Forbidden") } : {}),
  ...(parameterNames(route.path).length > 0 ? { 404: ref("responses", "NotFound") } : {}),
  422: ref("responses", "Invalid"),
  429: ref("responses", "RateLimited"),
});

/** A visitor route needs a visitor's token. Other routes need an API key with these scopes. */
const securityOf = (route: Guarded): readonly object[] =>
  "visitor" in route
    ? [{ visitorToken: [] }, { visitorTokenInQuery: [] }]
    : [{ apiKey: route.scopes }];

/** Describes a route in its own words and by the scopes that it needs. */
function descriptionOf(route: ApiRoute): { description?: string } {
  const scopes =
    "scopes" in route && route.scopes.length > 0
      ? `Needs ${route.scopes.map((scope) => `\`${scope}\``).join(" and ")}.`
      : "";
  const text = [route.description, scopes]
    .filter((part) => part !== undefined && part !== "")
    .join(" ");
  return text === "" ? {} : { description: text };
}

/** The routes without a key have no input. Only one of them has a parameter: that of callbacks. */
const openParameters = (route: ApiRoute): object => ({
  ...(route.operation.kind === "callback" ? { requestBody: callbackBody } : {}),
  ...parametersOf(
    parameterNames(route.path).map((name) =>
      pathParameter(name, { type: "string", description: "The name of the transport." }),
    ),
  ),
});

/** Each carrier has its own format. The transport reads it. */
const callbackBody = {
  description:
    "The carrier's request in the carrier's own format, byte for byte as it was signed: receipts " +
    `and inbound messages. At most ${maxCallbackBytes} bytes.`,
  content: {
    "application/json": {
      schema: { type: "object", description: "For carriers that send JSON, such as Telnyx." },
    },
    "application/x-www-form-urlencoded": {
      schema: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "For carriers that send form fields, such as Twilio.",
      },
    },
    "*/*": { schema: { type: "string", description: "Any other format of a transport." } },
  },
};

const pathParameter = (name: string, { description, ...schema }: JsonSchema): object => ({
  name,
  in: "path",
  required: true,
  ...(description === undefined ? {} : { description }),
  schema,
});

const parametersOf = (parameters: readonly object[]): object =>
  parameters.length === 0 ? {} : { parameters };

/**
 * Splits the input of an operation into path parameters and the rest: the body of a command, or the
 * query of other operations.
 */
function requestOf(route: Guarded, schemas: Schemas): object {
  const { operation, path } = route;
  const names = parameterNames(path);
  const { required = [], ...schema } = schemas.input(operation.name);
  const { properties = {} } = schema;
  const inPath = names.map((name) => pathParameter(name, properties[name] ?? { type: "string" }));
  const rest: Input = {
    schema,
    properties: Object.entries(properties).filter(([name]) => !names.includes(name)),
    required: required.filter((name) => !names.includes(name)),
    isRequired: schemas.refusesAbsent(operation.name, names),
  };
  if (hasBody(operation)) {
    const key = takesKey(operation) ? [ref("parameters", "IdempotencyKey")] : [];
    return { parameters: [...inPath, ...key], requestBody: bodyOf(route, rest, schemas) };
  }
  const resume = operation.kind === "stream" ? [ref("parameters", "LastEventId")] : [];
  return parametersOf([...inPath, ...queryParameters(rest), ...resume]);
}

/** The fields of an input that are not in the path. */
interface Input {
  /** The schema of the whole input. */
  readonly schema: JsonSchema;
  readonly properties: readonly (readonly [name: string, JsonSchema])[];
  readonly required: readonly string[];
  /** Whether a request without any of them is refused. It may need any one of several. */
  readonly isRequired: boolean;
}

function bodyOf(route: Guarded, input: Input, schemas: Schemas): object {
  const { operation, example } = route;
  const { schema, properties, required, isRequired } = input;
  const body = {
    ...schema,
    properties: {
      ...Object.fromEntries(properties),
      ...(operation.kind === "signal"
        ? {}
        : { [idempotencyField]: ref("schemas", "IdempotencyKey") }),
    },
    ...(required.length === 0 ? {} : { required }),
  };
  return {
    required: isRequired,
    content: {
      "application/json": {
        schema: schemas.body(operation.name, body),
        ...(example === undefined ? {} : { example }),
      },
      ...linesOf(route, Object.values(example ?? {}).flat()),
    },
  };
}

function queryParameters({ properties, required }: Input): object[] {
  return properties.map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    // Lists are separated by commas. By default, OpenAPI repeats the parameter.
    ...(schema.type === "array" ? { explode: false } : {}),
    schema,
  }));
}

/**
 * A schema describes one value, so NDJSON bodies are described in the text. `rows` are an example.
 */
function linesOf(route: ApiRoute, rows: readonly unknown[] = []): object {
  if (!("rows" in route)) return {};
  const schema = { type: "string" };
  const example = rows.map((row) => JSON.stringify(row)).join("\n");
  return { "application/x-ndjson": rows.length === 0 ? { schema } : { schema, example } };
}

function successResponses(route: ApiRoute, schemas: Schemas): object {
  const { operation } = route;
  const headers = responseHeaders(route);
  if (operation.kind === "stream") {
    return {
      200: {
        description: "A stream of events.",
        headers,
        content: { "text/event-stream": { schema: { type: "string" } } },
      },
    };
  }
  if (operation.kind === "callback") {
    const content = { "*/*": { schema: { type: "string" } } };
    const description = "The response that the carrier expects. Its body is often empty.";
    return { "2XX": { description, headers, content } };
  }
  const status = hasBody(operation) ? operation.status : 200;
  if (status === 204) return { 204: { description: "Done.", headers } };
  const content = {
    "application/json": { schema: schemas.output(operation.name) },
    ...linesOf(route),
  };
  const mayBeUnavailable = operation.kind === "public" && operation.mayBeUnavailable === true;
  return {
    [status]: { description: statusText[status], headers, content },
    ...(mayBeUnavailable ? { 503: { description: "Not ready.", headers, content } } : {}),
    ...(operation.kind === "document"
      ? { 304: { description: "The client has the current document.", headers } }
      : {}),
  };
}

/** An operation that takes a body. */
type WithBody = Extract<
  ApiRoute["operation"],
  { readonly kind: "command" | "procedure" | "signal" }
>;

const hasBody = (operation: ApiRoute["operation"]): operation is WithBody =>
  operation.kind === "command" || operation.kind === "procedure" || operation.kind === "signal";

const statusText = {
  200: "Done.",
  201: "Created.",
  202: "Accepted. Processing continues after this response.",
} as const;

const responseHeaders = (route: ApiRoute): object => ({
  "Request-Id": ref("headers", "RequestId"),
  ...(isGuarded(route) ? rateLimitHeaders : {}),
  ...(takesKey(route.operation)
    ? { "Idempotent-Replayed": ref("headers", "IdempotentReplayed") }
    : {}),
  ...(route.operation.kind === "document" ? { ETag: ref("headers", "ETag") } : {}),
});
