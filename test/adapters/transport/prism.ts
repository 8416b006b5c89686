/**
 * Carriers as their published OpenAPI documents describe them, on a local socket. Prism checks
 * requests against the document. It answers from the document, or forwards the request and checks
 * the response.
 */
import { readFileSync } from "node:fs";
import { getHttpOperationsFromSpec } from "@stoplight/prism-http";
import { createServer } from "@stoplight/prism-http-server";
import { onTestFinished } from "vitest";
import { httpClient } from "../../../adapters/http-client/index.ts";
import type { HttpClient, HttpRequest } from "../../../src/ports/http-client.ts";

type Operation = Awaited<ReturnType<typeof getHttpOperationsFromSpec>>[number];
type Content = NonNullable<
  NonNullable<NonNullable<Operation["request"]>["body"]>["contents"]
>[number];

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Record<string, object>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** A path for each event of the carrier, so that our test events can be checked too. */
export const eventPath = (schema: string): string => `/events/${schema}`;

/** The operations of a carrier's API, from `published/`. */
export async function published(name: "twilio" | "telnyx"): Promise<Operation[]> {
  const document = JSON.parse(
    readFileSync(new URL(`published/${name}.json`, import.meta.url), "utf8"),
  ) as Document;
  for (const schema of Object.keys(document.components.schemas).filter((each) =>
    each.endsWith("Event"),
  )) {
    const content = { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } };
    const responses = { 200: { description: "Taken." } };
    document.paths[eventPath(schema)] = {
      post: { requestBody: { required: true, content }, responses, security: [] },
    };
  }
  const [server] = document.servers;
  const base = new URL(server?.url ?? "").pathname.replace(/\/$/, "");
  const operations = await getHttpOperationsFromSpec(document);
  return operations.map((operation) => {
    const { request, responses } = operation;
    for (const content of request?.body?.contents ?? []) {
      alter(content.schema, strict);
      spellOutLists(content);
    }
    for (const { schema } of responses.flatMap(({ contents }) => contents ?? [])) {
      alter(schema, strict, relative);
    }
    // Prism ignores the path of the servers' URLs, and would send the callbacks itself.
    const path = operation.path.startsWith("/events/") ? operation.path : base + operation.path;
    return { ...operation, path, callbacks: [] };
  });
}

type Alteration = (schema: object) => object;

/** Applies to a schema and all schemas within it. */
function alter(schema: unknown, ...alterations: readonly Alteration[]): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const part of Object.values(schema)) alter(part, ...alterations);
  for (const alteration of alterations) Object.assign(schema, alteration(schema));
}

/** Forbids fields that the document does not name, because such fields are mistakes. */
const strict: Alteration = (schema) =>
  "properties" in schema ? { additionalProperties: false } : {};

/** Twilio's paging fields are paths, also in its examples, but are declared as URIs. */
const relative: Alteration = (schema) =>
  "format" in schema && schema.format === "uri" ? { format: "uri-reference" } : {};

/**
 * Declares that a list in a form is a repeated field, which is OpenAPI's default. Prism needs it
 * explicitly, and otherwise checks only the last value.
 */
function spellOutLists(content: Content): void {
  if (content.mediaType !== "application/x-www-form-urlencoded") return;
  const lists = Object.entries(content.schema?.properties ?? {}).filter(
    ([, each]) => typeof each === "object" && each.type === "array",
  );
  const encodings = lists.map(([property]) => ({
    property,
    style: "form",
    explode: true,
    allowReserved: true,
  }));
  content.encodings = encodings as NonNullable<Content["encodings"]>;
}

/** The port it listens on. `upstream` is the server that answers instead of the document. */
export async function prism(operations: Operation[], upstream?: string): Promise<string> {
  const common = {
    checkSecurity: true,
    validateRequest: true,
    errors: true,
    upstreamProxy: undefined,
  };
  const mock = { dynamic: false };
  const server = createServer(operations, {
    cors: false,
    config:
      upstream === undefined
        ? { ...common, mock, isProxy: false, validateResponse: false }
        : { ...common, mock, isProxy: true, validateResponse: true, upstream: new URL(upstream) },
    components: { logger: silent },
  });
  const url = await server.listen(0, "127.0.0.1");
  onTestFinished(() => server.close());
  return url;
}

type Logger = Parameters<typeof createServer>[1]["components"]["logger"];
const none = (): void => {};
const levels = ["trace", "debug", "info", "success", "warn", "error", "fatal"];
const silent: Logger = Object.assign(Object.fromEntries(levels.map((level) => [level, none])), {
  child: (): unknown => silent,
});

export interface Judged extends HttpClient {
  /** The violations that Prism found in requests and responses. */
  readonly complaints: string[];
  /** The fields that were sent in bodies and queries, by operation. */
  readonly fields: Map<string, Set<string>>;
}

/** The real HTTP client, connected to Prism. */
export function judged(operations: Operation[]): Judged {
  const http = httpClient();
  onTestFinished(() => http.close());
  const complaints: string[] = [];
  const fields = new Map<string, Set<string>>();
  return {
    complaints,
    fields,
    close: () => http.close(),
    async send(request) {
      const outcome = await http.send(request);
      if (outcome.outcome === "failed") {
        complaints.push(outcome.message);
        return outcome;
      }
      const { headers, body } = outcome;
      // Where the document describes errors, Prism answers with one. Elsewhere it answers with its
      // own problem document.
      const violations = JSON.parse(headers["sl-violations"] ?? "[]") as {
        severity: string;
        message: string;
      }[];
      complaints.push(
        ...violations.filter(({ severity }) => severity === "Error").map(({ message }) => message),
      );
      if (headers["content-type"] === "application/problem+json") {
        complaints.push(new TextDecoder().decode(body));
      }
      const operation = operations.find((each) => isOf(each, request));
      if (operation === undefined) return outcome;
      const name = `${operation.method} ${operation.path}`;
      const seen = fields.get(name) ?? new Set<string>();
      fields.set(name, seen);
      for (const field of fieldsOf(request)) {
        seen.add(field);
        // Prism ignores fields in forms and queries that the document does not name.
        if (!namesOf(operation).has(field)) complaints.push(`${name} has no ${field}`);
      }
      return outcome;
    },
  };
}

function isOf({ method, path }: Operation, request: HttpRequest): boolean {
  const pattern = path.replaceAll(/[.+]/g, String.raw`\$&`).replaceAll(/\{[^}]+\}/g, "[^/]+");
  return (
    method === request.method.toLowerCase() &&
    new RegExp(`^${pattern}$`).test(new URL(request.url).pathname)
  );
}

function namesOf({ request }: Operation): Set<string> {
  const inBodies = (request?.body?.contents ?? []).flatMap(({ schema }) =>
    Object.keys(schema?.properties ?? {}),
  );
  return new Set([...inBodies, ...(request?.query ?? []).map(({ name }) => name)]);
}

function fieldsOf({ url, headers, body }: HttpRequest): string[] {
  const text = new TextDecoder().decode(body ?? undefined);
  const isJson = headers["content-type"] === "application/json";
  const inBody = isJson
    ? Object.keys(JSON.parse(text) as object)
    : [...new URLSearchParams(text).keys()];
  return [...inBody, ...new URL(url).searchParams.keys()];
}
