import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodeHandler } from "../../adapters/http/node.ts";
import { eventTypes } from "../../src/events/types.ts";
import { errorCodes, TidingsError, type ErrorCode } from "../../src/kernel/errors.ts";
import { defaultLimits } from "../../src/kernel/limits.ts";
import { apiRoutes } from "../../src/modules.ts";
import type { ApiRoute } from "../../src/operations/api-route.ts";
import { longTest } from "../support/runs.ts";
import { call, jsonOf } from "./call.ts";
import { serve } from "./servers.ts";
import { world, type World } from "./world.ts";

const run = promisify(execFile);
const workspace = new URL("../openapi-client/", import.meta.url);
const requireThere = createRequire(new URL("package.json", workspace));

let there: World;
let folder: string;
let document: Record<string, unknown>;
beforeAll(async () => {
  there = world();
  // In the workspace, so that the client's packages resolve.
  folder = await mkdtemp(new URL("generated-", workspace).pathname);
  document = jsonOf(await call(there.engine.api, { path: "/v1/openapi.json" }));
  await writeFile(join(folder, "openapi.json"), JSON.stringify(document));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the document passes Redocly's recommended rules without a warning", async () => {
  const cli = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js");
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { stdout } = await run(
    process.execPath,
    [cli, "lint", "openapi.json", "--extends=recommended", "--format=json"],
    { cwd: folder, env },
  );
  expect(JSON.parse(stdout)).toMatchObject({
    totals: { errors: 0, warnings: 0, ignored: 0 },
    problems: [],
  });
});

test("the document has every route with its scope and a unique operation id", () => {
  type Items = Record<string, Record<string, { operationId: string; security: unknown }>>;
  const { paths, webhooks } = document as { paths: Items; webhooks: Items };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => [`${method} ${path}`, security]),
  );
  const expected = apiRoutes(defaultLimits).map((route: ApiRoute) => [
    `${route.method.toLowerCase()} ${route.path.replaceAll(/:(\w+)/g, "{$1}")}`,
    "scopes" in route
      ? [{ apiKey: route.scopes }]
      : "visitor" in route
        ? [{ visitorToken: [] }, { visitorTokenInQuery: [] }]
        : [],
  ]);
  expect(described).toHaveLength(expected.length);
  expect(described).toEqual(expect.arrayContaining(expected));
  const ids = [...Object.values(paths), ...Object.values(webhooks)].flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test("the document describes the body of every request that may have one", () => {
  interface Described {
    readonly parameters?: readonly { readonly $ref?: string }[];
    readonly requestBody?: {
      readonly required?: boolean;
      readonly content: Record<string, { readonly schema: JsonSchema }>;
    };
  }
  interface JsonSchema {
    readonly $ref?: string;
    readonly properties?: object;
    readonly required?: readonly string[];
  }
  const { paths, components } = document as {
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, JsonSchema> };
  };
  for (const route of apiRoutes(defaultLimits)) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    const { parameters = [], requestBody } = paths[path]?.[route.method.toLowerCase()] ?? {};
    const content = requestBody?.content ?? {};
    if (route.operation.kind === "callback") {
      expect(Object.keys(content)).toContain("application/x-www-form-urlencoded");
      continue;
    }
    const hasBody = route.operation.kind === "command" || route.operation.kind === "procedure";
    const inHeader = parameters.some(
      ({ $ref }) => $ref === "#/components/parameters/IdempotencyKey",
    );
    const { $ref, ...inline } = content["application/json"]?.schema ?? {};
    const body = $ref === undefined ? inline : components.schemas[$ref.split("/").at(-1) ?? ""];
    const inBody = "idempotency_key" in (body?.properties ?? {});
    const changesNothingTwice =
      path === "/v1/messages/preview" || path === "/v1/webchat/sessions/{id}/marks";
    expect([route.method, path, inHeader, inBody]).toEqual([
      route.method,
      path,
      hasBody && !changesNothingTwice,
      hasBody,
    ]);
  }
});

test("the document describes the messages of a batch, which take no key of their own", () => {
  interface Described {
    readonly $ref?: string;
    readonly required?: readonly string[];
    readonly properties?: Readonly<Record<string, { readonly items?: Described }>>;
  }
  const { components } = document as { components: { schemas: Record<string, Described> } };
  const named = (name: string): Described | undefined => components.schemas[name];
  const item = named("BatchMessages")?.properties?.["messages"]?.items;
  const message = named(item?.$ref?.split("/").at(-1) ?? "");
  const { idempotency_key: _, ...fields } = named("SendMessage")?.properties ?? {};
  expect(message).toMatchObject({ required: ["to", "body"], additionalProperties: false });
  expect(message?.properties).toEqual(fields);
});

test("the document declares the headers of error responses", async () => {
  const tenant = await there.tenant("sandbox");
  const reader = await there.keyWith(tenant, ["messages:read"]);
  const cancel = (key: string) =>
    call(there.engine.api, {
      method: "POST",
      path: "/v1/messages/msg_01JZZZZZZZZZZZZZZZZZZZZZZZ/cancel",
      key,
      headers: ["Idempotency-Key", "k"],
    });
  const { paths, components } = document as {
    paths: Record<string, Record<string, { responses: Record<string, { $ref: string }> }>>;
    components: { responses: Record<string, { headers: object }> };
  };
  const { responses } = paths["/v1/messages/{id}/cancel"]?.["post"] ?? expect.fail();
  const everywhere = new Set(["Content-Type", "Cache-Control", "X-Content-Type-Options"]);
  const answers = [await cancel(tenant.secret), await cancel(tenant.secret), await cancel(reader)];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 403]);
  for (const { status, headers } of answers) {
    const name = responses[status]?.$ref.split("/").at(-1) ?? "";
    const declared = Object.keys(components.responses[name]?.headers ?? {});
    const own = Object.keys(headers).filter((header) => !everywhere.has(header));
    expect(declared).toEqual(expect.arrayContaining(own));
  }
});

/** Errors of pages and of the mount of the chat widget, which the document does not describe. */
const ofPages: ReadonlySet<ErrorCode> = new Set([
  "missing_session",
  "not_signed_in",
  "invalid_session_token",
  "local_only",
  "foreign_origin",
  "media_unavailable",
]);

test("the document names every error code beside its status", () => {
  interface Responses {
    readonly [status: string]: { readonly $ref?: string };
  }
  const { paths, components } = document as {
    paths: Record<string, Record<string, { responses: Responses }>>;
    components: { responses: Record<string, { description: string }> };
  };
  const { responses } = paths["/v1/messages/{id}"]?.["get"] ?? expect.fail();
  const described = Object.entries(responses).map(([status, { $ref = "" }]) => {
    const { description = "" } = components.responses[$ref.split("/").at(-1) ?? ""] ?? {};
    return /^\d+$/.test(status) ? `${status}: ${description}` : description;
  });
  // "409: `conflict`, `not_cancelable`." names two codes.
  const named = described.flatMap((text) =>
    [...text.matchAll(/(\d{3}): ([^]*?)(?=\d{3}:|$)/g)].flatMap(([, status, codes = ""]) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`),
    ),
  );
  const codes = errorCodes.filter((code) => !ofPages.has(code));
  const expected = codes.map((code) => `${new TidingsError(code, "").status} ${code}`);
  expect(named.filter((each) => expected.includes(each)).toSorted()).toEqual(expected.toSorted());
});

test("the document names the schema of what streams and webhooks send", () => {
  interface Described {
    readonly description?: string;
    readonly responses?: Readonly<Record<string, { readonly content?: object }>>;
  }
  const { paths, components } = document as {
    paths: Record<string, Record<string, Described>>;
    components: { schemas: object };
  };
  const sending = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(
        ([method, { responses }]) =>
          "text/event-stream" in (responses?.["200"]?.content ?? {}) ||
          (path === "/v1/webhooks" && method === "post"),
      )
      .map(([, { description = "" }]) => ({
        path,
        schemas: [...description.matchAll(/`(\w+)`/g)].flatMap(([, name = ""]) =>
          name in components.schemas ? [name] : [],
        ),
      })),
  );
  expect(sending).toEqual([
    { path: "/v1/webchat/sessions/{id}/stream", schemas: ["WebchatMessage", "WebchatState"] },
    { path: "/v1/webhooks", schemas: ["Event"] },
    { path: "/v1/events/stream", schemas: ["Event"] },
  ]);
});

test("the document says what the stream's events about typing contain, as they are no `Event`", () => {
  const { paths } = document as {
    paths: Record<
      string,
      { get?: { parameters?: readonly { name?: string; description?: string }[] } }
    >;
  };
  const parameters = paths["/v1/events/stream"]?.get?.parameters ?? [];
  const typing = parameters.find(({ name }) => name === "typing");
  expect(typing?.description).toContain("`data` is `{ conversation_id, author }`");
});

test("the document lists the types that a stream can be limited to", async () => {
  interface Parameter {
    readonly name?: string;
    readonly explode?: boolean;
    readonly schema?: object;
  }
  const { paths } = document as { paths: Record<string, { get?: { parameters?: Parameter[] } }> };
  const parameters = paths["/v1/events/stream"]?.get?.parameters ?? [];
  const types = parameters.find(({ name }) => name === "types");
  expect(types).toMatchObject({
    explode: false,
    schema: { type: "array", items: { $ref: "#/components/schemas/EventType" }, minItems: 1 },
  });
  const { secret } = await there.tenant("sandbox");
  const signal = AbortSignal.abort();
  const path = `/v1/events/stream?types=${eventTypes.join(",")}`;
  expect((await call(there.engine.api, { path, key: secret, signal })).status).toBe(200);
});

test("the document describes every parameter and every field", () => {
  const undescribed: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { properties = {}, parameters = [] } = value as {
      readonly properties?: Readonly<Record<string, object>>;
      readonly parameters?: readonly object[];
    };
    for (const [name, each] of [...Object.entries(properties), ...parameters.entries()]) {
      // Components have descriptions of their own.
      const isDescribed = "description" in each || "$ref" in each;
      if (!isDescribed) undescribed.push(`${path}.${name}`);
    }
    for (const [key, part] of Object.entries(value)) visit(part, `${path}.${key}`);
  };
  const { paths, components } = document as { components: { schemas: object }; paths: object };
  visit({ paths, schemas: components.schemas }, "document");
  for (const [name, schema] of Object.entries(components.schemas) as [string, object][]) {
    if (!("description" in schema)) undescribed.push(name);
  }
  expect(undescribed).toEqual([]);
});

test("the document says how many items a list returns by default", () => {
  const { paths } = document as {
    paths: Record<
      string,
      { get?: { parameters?: readonly { name?: string; description?: string }[] } }
    >;
  };
  const limits = Object.entries(paths).flatMap(([path, { get }]) =>
    (get?.parameters ?? []).flatMap(({ name, description }) =>
      name === "limit" ? [[path, description]] : [],
    ),
  );
  expect(limits.length).toBeGreaterThan(10);
  for (const [path, description] of limits) {
    expect([path, description]).toEqual([path, expect.stringContaining("By default 20.")]);
  }
});

test("the document has the mount's base URL", async () => {
  await using running = await serve(
    { prefix: "/api", listener: (mounted) => nodeHandler(mounted, { basePath: "/api" }) },
    there.engine,
  );
  const response = await fetch(`${running.base}/v1/openapi.json`);
  expect(await response.json()).toEqual({ ...document, servers: [{ url: "/api" }] });
});

const client = `
import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./schema.ts";

type Post<Type extends keyof webhooks> =
  webhooks[Type]["post"]["requestBody"]["content"]["application/json"];
export const textOf = ({ data }: Post<"message.received">): string => data.body;
export function idOf(event: components["schemas"]["Event"]): string {
  return event.type === "contact.created" ? event.data.contact.id : event.id;
}
// @ts-expect-error an erased contact has no name
export const nameOf = ({ data }: Post<"contact.erased">): string => data.contact.name;

export type Message = components["schemas"]["Message"];

export async function use(baseUrl: string, key: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
  const sent = await client.POST("/v1/messages", {
    params: { header: { "Idempotency-Key": "first" } },
    body: { to: "+15005550001", body: "hello", metadata: { order: "7" } },
  });
  if (sent.error !== undefined) throw new Error(sent.error.detail);
  const one = await client.GET("/v1/messages/{id}", { params: { path: { id: sent.data.id } } });
  const query = { status: one.data?.status ?? "queued", limit: 5 } as const;
  const list = await client.GET("/v1/messages", { params: { query } });
  const missing = await client.POST("/v1/messages/{id}/cancel", { params: { path: { id: "msg_none" } } });
  return { sent: sent.data, listed: list.data?.data ?? [], problem: missing.error?.code };
}
// @ts-expect-error a message needs a body
export const wrong: components["schemas"]["SendMessage"] = { to: "+15005550001" };
`;

longTest(
  "a client generated with openapi-typescript and openapi-fetch compiles and sends",
  async () => {
    const generator = requireThere("openapi-typescript") as {
      default(schema: unknown): Promise<unknown[]>;
      astToString(nodes: unknown[]): string;
    };
    await writeFile(
      join(folder, "schema.ts"),
      generator.astToString(await generator.default(document)),
    );
    await writeFile(join(folder, "client.ts"), client);
    const flags = [
      "--noEmit",
      "--strict",
      "--target",
      "es2022",
      "--module",
      "nodenext",
      "--allowImportingTsExtensions",
      "--skipLibCheck",
    ];
    const compiled = run(
      process.execPath,
      [requireThere.resolve("typescript/bin/tsc"), ...flags, "client.ts"],
      {
        cwd: folder,
      },
    );
    expect(await compiled.catch((error: unknown) => error)).toMatchObject({ stdout: "" });

    const { secret } = await there.tenant("sandbox");
    await using running = await serve({ prefix: "", listener: nodeHandler }, there.engine);
    const { use } = (await import(pathToFileURL(join(folder, "client.ts")).href)) as {
      use(
        base: string,
        key: string,
      ): Promise<{
        sent: { id: string; metadata: object };
        listed: { id: string }[];
        problem: string;
      }>;
    };
    const { sent, listed, problem } = await use(running.base, secret);
    expect(sent).toMatchObject({
      id: expect.stringMatching(/^msg_/) as unknown,
      status: "queued",
      metadata: { order: "7" },
      idempotency_key: "first",
    });
    expect(listed.map(({ id }) => id)).toEqual([sent.id]);
    expect(problem).toBe("not_found");
  },
);
