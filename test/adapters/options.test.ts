import pg from "pg";
import { describe, expect, it } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { httpClient } from "../../adapters/http-client/index.ts";
import { expressHandler } from "../../adapters/http/express.ts";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { koaHandler } from "../../adapters/http/koa.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { english } from "../../adapters/language/index.ts";
import { languageModel, rules } from "../../adapters/models/index.ts";
import { sentiment } from "../../adapters/sentiment/index.ts";
import { standard } from "../../adapters/standard.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { postgres } from "../../adapters/storage/postgres/index.ts";
import { sqlite } from "../../adapters/storage/sqlite/index.ts";
import { system } from "../../adapters/system/index.ts";
import { simulated } from "../../adapters/testing/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { telnyx } from "../../adapters/transport/telnyx/index.ts";
import { twilio } from "../../adapters/transport/twilio/index.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import { entries } from "../../tsup.config.ts";
import { thrownBy } from "../support/thrown-by.ts";

const http = { send() {}, close() {} };
const account = { accountSid: `AC${"0".repeat(32)}`, authToken: "hunter2", http };
const callbackUrl = "https://shop.example/v1/transports/telnyx/callbacks";
const publicKey = Buffer.alloc(32).toString("base64");
const profile = { apiKey: "hunter2", publicKey, http, callbackUrl };
const model = { specificationVersion: "v3", doGenerate() {} };
const pool = { connect() {} };
const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });

type Adapter = (...given: never[]) => unknown;

/** Calls an adapter as a host application in JavaScript might. */
const call = (adapter: Adapter, given: readonly unknown[]): unknown =>
  thrownBy(() => Reflect.apply(adapter, undefined, given));

describe("an adapter", () => {
  it.each<[adapter: Adapter, given: readonly unknown[], error: string]>([
    [twilio, [], "twilio: options: expected { accountSid, authToken, http }, got undefined"],
    [twilio, [{ ...account, http: undefined }], "twilio: http: expected an HTTP client, such as"],
    [twilio, [{ ...account, http: {} }], "twilio: http: expected an HTTP client"],
    [
      twilio,
      [{ ...account, callbackURL: callbackUrl }],
      'callbackURL: unknown option. Did you mean "callbackUrl"? Known options: accountSid, authToken, http, callbackUrl, apiUrl',
    ],
    [
      twilio,
      [{ ...account, accountSid: "SK1", authToken: 5 }],
      'twilio: accountSid: expected AC and 32 hexadecimal digits, got a string that begins with "SK"; authToken: expected the account\'s auth token, got 5',
    ],
    [
      twilio,
      [{ ...account, accountSid: "hunter2", authToken: account.accountSid }],
      "twilio: accountSid: expected AC and 32 hexadecimal digits, got a string",
    ],
    [
      twilio,
      [{ ...account, apiUrl: "ftp://x" }],
      'apiUrl: expected an http or https URL, got "ftp',
    ],
    [
      telnyx,
      [],
      "telnyx: options: expected { apiKey, publicKey, http, callbackUrl }, got undefined",
    ],
    [telnyx, [{ ...profile, http: undefined }], "telnyx: http: expected an HTTP client"],
    [telnyx, [{ ...profile, callbackUrl: undefined }], "telnyx: callbackUrl: expected an http or"],
    [
      telnyx,
      [{ ...profile, publicKey: 1 }],
      "telnyx: publicKey: expected 32 bytes in base64, got 1",
    ],
    [telnyx, [{ ...profile, webhookUrl: "x" }], "webhookUrl: unknown option."],
    [httpClient, [{ dnsServer: [] }], 'dnsServer: unknown option. Did you mean "dnsServers"?'],
    [
      httpClient,
      [{ dnsServers: "9.9.9.9" }],
      "httpClient: dnsServers: expected a list of DNS serv",
    ],
    [
      httpClient,
      [{ dnsServers: ["9.9.9.9", "dns.example"] }],
      'dnsServers.1: expected an IP address with an optional port, such as "9.9.9.9", got "dns.ex',
    ],
    [languageModel, [], "languageModel: model: expected a language model of the AI SDK"],
    [languageModel, ["gpt-5-mini"], 'openai("gpt-5-mini"), got a string'],
    [languageModel, [{ ...model, specificationVersion: "v1" }], "with specificationVersion v1"],
    [languageModel, [model, { temprature: 1 }], 'Did you mean "temperature"?'],
    [languageModel, [model, { maxOutputTokens: "9" }], "maxOutputTokens: expected a whole number"],
    [
      rules,
      [{ minRelevance: 2 }],
      "rules: minRelevance: expected a number above 0 and up to 1, got 2",
    ],
    [rules, [{ relevance: 1 }], 'relevance: unknown option. Did you mean "minRelevance"? Known'],
    [sqlite, [], "sqlite: options: expected { file }, the path of a database file, got undefined"],
    [
      sqlite,
      ["app.db"],
      "sqlite: options: expected { file }, the path of a database file, got a str",
    ],
    [
      sqlite,
      [{ path: "app.db" }],
      "sqlite: file: expected the path of a database file, got undefined",
    ],
    [sqlite, [{ file: "a.db", migrat: true }], 'Did you mean "migrate"?'],
    [sqlite, [{ file: new URL("file:///app.db") }], "the path of a database file, got a URL"],
    [sqlite, [{ file: ":memory:" }], "Use memory() instead."],
    [postgres, [], "postgres: options: expected { pool }, a pg Pool, got undefined"],
    [
      postgres,
      [{ pool: "postgres://app:hunter2@db/app" }],
      "pool: expected a pg Pool, such as new pg.Pool({ connectionString }), got a string",
    ],
    [
      postgres,
      [{ pool: new pg.Client() }],
      "postgres: pool: expected a pg Pool, such as new pg.Pool({ connectionString }), got a Client",
    ],
    [postgres, [{ pool, shema: "app" }], 'Did you mean "schema"?'],
    [
      postgres,
      [{ pool, schema: "App" }],
      "postgres: schema: expected the name of a schema in lower",
    ],
    [postgres, [{ pool, schema: "pg_tidings" }], "PostgreSQL reserves names that begin with pg_"],
    [memory, [{ file: "app.db" }], "memory: expected no arguments, got an object"],
    [standard, [{ agents: {} }], "standard: expected no arguments, got an object"],
    [sandbox, [{ numbers: [] }], "sandbox: expected no arguments, got an object"],
    [sentiment, [{ language: "de" }], "sentiment: expected no arguments, got an object"],
    [english, ["en-US"], "english: expected no arguments, got a string"],
    [system, [1], "system: expected no arguments, got 1"],
    [
      simulated,
      [{ start: "yesterday" }],
      "simulated: start: expected a time in ISO 8601 or millis",
    ],
    [simulated, [{ sed: 2 }], 'Did you mean "seed"?'],
    [
      nodeHandler,
      [],
      "nodeHandler: engine: expected a MessagingEngine or a page, such as inboxHandler(engine), got undefined",
    ],
    [
      nodeHandler,
      [engine.api],
      "nodeHandler: engine: expected a MessagingEngine or a page, such as inboxHandler(engine), got a RequestHandler",
    ],
    [nodeHandler, [engine, { basePath: "api" }], 'basePath: expected a path like "/api" or'],
    [
      nodeHandler,
      [engine, { base: "/api" }],
      "nodeHandler: options.base: unknown option. Known options: basePath",
    ],
    [koaHandler, [engine, { basePath: "/api/" }], 'without a final slash, got "/api/"'],
    [fetchHandler, [engine, { basePath: "/a/../b" }], 'got "/a/../b". Clients remove "." and ".."'],
    [nodeHandler, [engine, { basePath: "/%2E" }], 'got "/%2E". Clients remove'],
    [
      koaHandler,
      [{}],
      "koaHandler: engine: expected a MessagingEngine or a page, such as inboxHandler(engine), got an object",
    ],
    [fetchHandler, [engine, { basepath: "/api" }], 'Did you mean "basePath"?'],
    [
      expressHandler,
      [],
      "expressHandler: engine: expected a MessagingEngine or a page, such as inboxHandler(engine), got undefined",
    ],
    [expressHandler, [engine, { basePath: "/api" }], 'app.use("/api", expressHandler(engine))'],
  ])("%o refuses wrong arguments at once: %o", (adapter, given, error) => {
    const thrown = call(adapter, given);
    expect(thrown).toBeInstanceOf(TidingsError);
    expect(thrown).toMatchObject({ code: "invalid_option", retryable: false });
    const { message } = thrown as TidingsError;
    expect(message).toContain(error);
    expect(message.startsWith(`${adapter.name}: `)).toBe(true);
    expect(message).not.toContain("hunter2");
  });

  it.each<[adapter: Adapter, given: readonly unknown[]]>([
    [twilio, [{ ...account, callbackUrl: undefined, apiUrl: undefined }]],
    [telnyx, [profile]],
    [httpClient, [{ dnsServers: ["9.9.9.9", "[2620:fe::fe]:53"] }]],
    [languageModel, [model, { temperature: 0, providerOptions: { openai: {} } }]],
    [rules, [{}]],
    [sqlite, [{ file: "app.db", migrate: undefined }]],
    [postgres, [{ pool, schema: "app" }]],
    [simulated, [{ seed: 2, start: new Date(0) }]],
    [nodeHandler, [engine, { basePath: "" }]],
    [koaHandler, [engine, { basePath: "/a/b" }]],
    [fetchHandler, [engine]],
    [expressHandler, [engine]],
  ])("%o accepts valid arguments", (adapter, given) => {
    expect(call(adapter, given)).toMatch(/^none/);
  });
});

describe("the functions that the package exports", () => {
  /** Classes of errors. The engine, adapters and the testing kit create them. */
  const errors = new Set([
    "ReplayedError",
    "StorageConflict",
    "StorageRefusal",
    "TidingsError",
    "UnusableResult",
    "Violation",
  ]);
  /** Those that take a number. */
  const numeric = new Set(["Dice", "seededRandom", "virtualClock"]);

  it.each(Object.values(entries))("of %s refuse arguments that cannot be right", async (path) => {
    const module: object = await import(new URL(`../../${path}`, import.meta.url).href);
    const exported = Object.entries(module).filter(([name]) => !errors.has(name));
    const accepted = exported.flatMap(([name, value]: [string, unknown]) => {
      const wrong = ["x", null, { nonsense: 1 }, ...(numeric.has(name) ? [] : [5])];
      return wrong.flatMap((given) => {
        const isRefused = typeof value !== "function" || refuses(name, value, given);
        return isRefused ? [] : [`${name}(${JSON.stringify(given)})`];
      });
    });
    expect(accepted).toEqual([]);
  });

  function refuses(name: string, callee: object, given: unknown): boolean {
    const isClass = /^[A-Z]/.test(name);
    const thrown = thrownBy(() =>
      isClass
        ? Reflect.construct(callee as new (given: unknown) => object, [given])
        : Reflect.apply(callee as (given: unknown) => unknown, undefined, [given]),
    );
    return thrown instanceof TidingsError && thrown.code === "invalid_option";
  }
});
