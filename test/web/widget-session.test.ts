/** The ready handler that opens sessions for anonymous visitors. */
import { request as send, type IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import express from "express";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { MessagingEngine } from "../../adapters/entry.ts";
import { expressHandler } from "../../adapters/http/express.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import { widgetHandler, type WidgetOptions } from "../../adapters/web/widget/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { world } from "../support/engines/world.ts";
import { listening } from "../support/listening.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly json: () => Record<string, unknown>;
}

type Headers = Readonly<Record<string, string>>;

interface Site {
  readonly engine: MessagingEngine;
  readonly advance: (ms: number) => Promise<void>;
  readonly ask: (method: string, path: string, headers?: Headers, body?: object) => Promise<Answer>;
  /** Asks for a session as a page of the same origin does. */
  readonly open: (headers?: Headers) => Promise<Answer>;
}

async function siteOf(options: WidgetOptions = {}): Promise<Site> {
  const { clock, engine: engineOn } = world();
  const engine = engineOn(memory());
  const widget = widgetHandler(engine, options);
  onTestFinished(() => engine.stop());
  const port = await listening(express().use("/chat", expressHandler(widget)));
  const ask: Site["ask"] = (method, path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { "Content-Type": "application/json" };
      send(
        { host: "127.0.0.1", port, method, path, headers: { ...type, ...headers } },
        (answer) => {
          void answer.toArray().then((chunks: Buffer[]) => {
            const bytes = Buffer.concat(chunks);
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              bytes,
              json: () => JSON.parse(bytes.toString()) as Record<string, unknown>,
            });
          }, reject);
        },
      )
        .on("error", reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {
    engine,
    advance: (ms) => clock.advance(ms),
    ask,
    open: (headers = {}) =>
      ask("POST", "/chat/session", { "Sec-Fetch-Site": "same-origin", ...headers }),
  };
}

const cookieOf = ({ headers }: Answer): string =>
  headers["set-cookie"]?.[0]?.split(";", 1).join("") ?? "";

const hourMs = 3_600_000;
const shop = "https://shop.example";

describe("the session of an anonymous visitor", () => {
  it("works with the visitor's endpoints below the mount point, and with no others", async () => {
    const { engine, ask, open } = await siteOf();
    const opened = await open();
    expect(opened.status).toBe(201);
    const { id, token, api, return_key } = opened.json();
    expect([api, return_key]).toEqual(["./", undefined]);
    const headers = { Authorization: `Bearer ${String(token)}` };
    const base = `/chat/v1/webchat/sessions/${String(id)}`;
    const sent = await ask("POST", `${base}/messages`, headers, { body: "Hello" });
    expect(sent.status).toBe(201);
    const listed = await ask("GET", `${base}/messages`, headers);
    expect(listed.json()["data"]).toEqual([sent.json()]);
    expect((await ask("GET", `${base}/messages`)).status).toBe(401);

    const { secret } = await engine.apiKeys.create({ name: "all" });
    const key = { Authorization: `Bearer ${secret}` };
    const others = ["/v1/messages", "/v1/webchat/sessions", "/v1/health", "/v1/openapi.json", "/"];
    for (const path of others) {
      for (const method of ["GET", "POST"]) {
        expect([path, (await ask(method, `/chat${path}`, key)).status]).toEqual([path, 404]);
      }
    }
  });

  it("belongs to the same visitor on the next day, by a cookie that scripts cannot read", async () => {
    const { open, advance } = await siteOf();
    const first = await open({ Origin: shop });
    expect(first.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^tidings_visitor_\d+=[\w-]+\.[\w-]{43}; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    await advance(30 * hourMs);
    const second = await open({ Cookie: `theme=dark; ${cookieOf(first)}` });
    expect(second.json()["contact_id"]).toBe(first.json()["contact_id"]);
    expect(second.json()["id"]).not.toBe(first.json()["id"]);
    expect((await open()).json()["contact_id"]).not.toBe(first.json()["contact_id"]);
  });

  it("is a new visitor's when the cookie is forged or of another engine", async () => {
    const { open } = await siteOf();
    const first = await open();
    const other = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
    onTestFinished(() => other.stop());
    const { return_key } = await other.webchat.open();
    const genuine = cookieOf(first);
    const [name = ""] = genuine.split("=");
    const forged = [
      `${genuine.slice(0, -2)}AA`,
      `${name}=`,
      `${name}=${String(first.json()["contact_id"])}`,
      `${name}=${return_key}`,
    ];
    for (const Cookie of forged) {
      const opened = await open({ Cookie });
      expect(opened.status).toBe(201);
      expect(opened.json()["contact_id"]).not.toBe(first.json()["contact_id"]);
      // The cookie is replaced, so that the visitor comes back.
      const again = await open({ Cookie: cookieOf(opened) });
      expect(again.json()["contact_id"]).toBe(opened.json()["contact_id"]);
    }
  });

  it("is the visitor's own, whatever a link wrote into another cookie of the website", async () => {
    const { open } = await siteOf();
    const attacker = await open();
    const campaign = `campaign=spring,${cookieOf(attacker)}`;
    const visitor = await open({ Cookie: campaign });
    expect(visitor.json()["contact_id"]).not.toBe(attacker.json()["contact_id"]);
    const again = await open({ Cookie: `${campaign}; ${cookieOf(visitor)}` });
    expect(again.json()["contact_id"]).toBe(visitor.json()["contact_id"]);
  });

  const foreigners: readonly [string, Headers][] = [
    ["a page of another website", { Origin: "https://evil.example" }],
    [
      "a page whose browser says so",
      { "Sec-Fetch-Site": "cross-site", Origin: "http://127.0.0.1" },
    ],
    ["a page of a neighbouring subdomain", { "Sec-Fetch-Site": "same-site" }],
    ["a page without an origin", { Origin: "null" }],
    ["a program", {}],
  ];

  it.each(foreigners)("is refused to %s", async (_, headers) => {
    const { ask, engine } = await siteOf({ origins: [shop] });
    const refused = await ask("POST", "/chat/session", headers);
    expect([refused.status, refused.json()["code"]]).toEqual([403, "foreign_origin"]);
    expect(refused.headers["access-control-allow-origin"]).toBeUndefined();
    expect(refused.headers["set-cookie"]).toBeUndefined();
    expect((await engine.contacts.list()).data).toEqual([]);
  });

  it("may be used by pages of the allowed origins, with a cookie of their own", async () => {
    const { ask } = await siteOf({ origins: [shop] });
    const page = { Origin: shop, "Sec-Fetch-Site": "cross-site" };
    const opened = await ask("POST", "/chat/session", page);
    expect(opened.headers).toMatchObject({
      "access-control-allow-origin": shop,
      "access-control-allow-credentials": "true",
      "set-cookie": [expect.stringContaining("HttpOnly; SameSite=None; Partitioned; Secure")],
    });
    const { id, token } = opened.json();
    const path = `/chat/v1/webchat/sessions/${String(id)}/messages`;
    const asked = { "Access-Control-Request-Method": "GET" };
    const preflight = await ask("OPTIONS", path, { ...page, ...asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      "access-control-allow-origin": shop,
      "access-control-allow-headers": expect.stringContaining("Authorization") as unknown,
    });
    const foreign = await ask("OPTIONS", path, { Origin: "https://evil.example", ...asked });
    expect(foreign.headers["access-control-allow-origin"]).toBeUndefined();
    const Authorization = `Bearer ${String(token)}`;
    const listed = await ask("GET", path, { ...page, Authorization });
    expect([listed.status, listed.headers["access-control-allow-origin"]]).toEqual([200, shop]);
    expect(listed.headers["access-control-allow-credentials"]).toBeUndefined();
  });

  it("is limited by address, and over all addresses", async () => {
    const clientAddress: WidgetOptions["clientAddress"] = ({ headers }) => headers["x-real-ip"];
    const { open, advance } = await siteOf({
      clientAddress,
      sessionsPerAddress: 2,
      sessionsInAll: 5,
    });
    const statusFrom = async (address: string): Promise<number> =>
      (await open({ "X-Real-IP": address })).status;
    const statuses: number[] = [];
    for (const end of [1, 2, 3]) statuses.push(await statusFrom(`2001:db8:0:7::${end}`));
    expect(statuses).toEqual([201, 201, 429]);
    expect(await statusFrom("2001:db8:0:8::1")).toBe(201);
    // IPv4 in either notation.
    expect(await statusFrom("203.0.113.9")).toBe(201);
    expect(await statusFrom("::ffff:203.0.113.9")).toBe(201);
    const last = await open({ "X-Real-IP": "198.51.100.1" });
    expect([last.status, last.json()["code"]]).toEqual([429, "rate_limited"]);
    expect(Number(last.headers["retry-after"])).toBeGreaterThan(3_500);
    await advance(hourMs);
    expect(await statusFrom("2001:db8:0:7::9")).toBe(201);
  });
});

test("chats of several accounts on one website keep their visitors apart", async ({ skip }) => {
  const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
  const { account } = await engine.accounts.create({ name: "Other" });
  const app = express()
    // Within the path of the other one, whose cookie it gets, too.
    .use("/chat/help", expressHandler(widgetHandler(engine, { account_id: account.id })))
    .use("/chat", expressHandler(widgetHandler(engine)))
    .get("/", (_, response) => void response.type("html").send("<!doctype html><title>Shop"));
  onTestFinished(() => engine.stop());
  const port = await listening(app);
  const page = await (await newContext(skip)).newPage();
  await page.goto(`http://127.0.0.1:${port}/`);
  const visitor = (path: string): Promise<string> =>
    page.evaluate(
      `fetch("${path}", { method: "POST" }).then((response) => response.json())
        .then(({ contact_id }) => contact_id)`,
    );
  const [shop, help] = [await visitor("/chat/session"), await visitor("/chat/help/session")];
  expect(shop).not.toBe(help);
  expect(await visitor("/chat/session")).toBe(shop);
  expect(await visitor("/chat/help/session")).toBe(help);
});

describe("the script", () => {
  it("is small, compressed, and asked for again only when it has changed", async () => {
    const { ask } = await siteOf();
    const plain = await ask("GET", "/chat/widget.js");
    const small = await ask("GET", "/chat/widget.js", { "Accept-Encoding": "gzip, deflate, br" });
    expect(small.headers).toMatchObject({
      "content-encoding": "br",
      "content-type": "text/javascript; charset=utf-8",
      "cross-origin-resource-policy": "cross-origin",
      "x-content-type-options": "nosniff",
    });
    expect(brotliDecompressSync(small.bytes).equals(plain.bytes)).toBe(true);
    const gzip = await ask("GET", "/chat/widget.js", { "Accept-Encoding": "gzip" });
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    // The budget of the build. The documents promise it.
    expect(gzip.bytes.length).toBeLessThanOrEqual(15_000);
    const none = { "Accept-Encoding": "br;q=0, identity" };
    expect((await ask("GET", "/chat/widget.js", none)).bytes.equals(plain.bytes)).toBe(true);
    const tag = { "Accept-Encoding": "br", "If-None-Match": small.headers.etag ?? "" };
    const again = await ask("GET", "/chat/widget.js", tag);
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    expect((await ask("POST", "/chat/widget.js")).status).toBe(405);
  });
});

describe("options", () => {
  it("are checked, with what was expected", () => {
    const engine = new MessagingEngine({ storage: memory(), transports: [sandbox()] });
    const wrong: readonly [WidgetOptions, string][] = [
      [{ origins: ["shop.example"] }, 'an origin, such as "https://shop.example"'],
      [{ sessionsPerAddress: 0 }, "a whole number from 1 to 100000"],
      [{ account_id: "shop" }, "the id of an account"],
    ];
    for (const [options, expected] of wrong) {
      expect(() => widgetHandler(engine, options)).toThrow(expected);
    }
    const { api } = engine;
    const stranger = { api: { handle: api.handle }, account: () => engine } as const;
    expect(() => widgetHandler(stranger)).toThrow(
      "widgetHandler: engine: expected a MessagingEngine, got an object",
    );
  });
});
