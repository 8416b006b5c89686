/** The server half of pages: who gets in, and what a page may do. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { fetchHandler } from "../../adapters/http/fetch.ts";
import { nodeHandler } from "../../adapters/http/node.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import type {
  Authorize,
  PageAccess,
  PageRequest,
} from "../../adapters/web/shared/server/options.ts";
import { defaultAccountId } from "../../src/accounts/prepare-storage.ts";
import { keyScopes } from "../../src/operations/caller.ts";
import { overFetch } from "../api/servers.ts";
import { world } from "../support/engines/world.ts";
import { eventually } from "../support/eventually.ts";
import {
  builtFolder,
  engineOf,
  mountings,
  pageOf,
  signIn,
  siteOf,
  type Answered,
  type Asked,
  type PageMounting,
} from "./pages.ts";

const anna: PageAccess = {
  account_id: defaultAccountId,
  mode: "sandbox",
  operator: { id: "anna", name: "Anna", avatar_url: "https://cdn.shop.example/anna.png" },
  may: [...keyScopes],
};

/** The host's sign-in: a cookie of its own. */
const authorize: Authorize = ({ headers }) => (headers["cookie"] === "shop=anna" ? anna : null);
const signedIn = { Cookie: "shop=anna" };

const phone = "+15005550001";
const inbound = { method: "POST", path: "/v1/sandbox/inbound", body: { from: phone, body: "Hi" } };

describe.each(mountings)("a page on $name", (mounting) => {
  it("is served with its files, and its API acts for the person that the host lets in", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize }), mounting);
    const page = await site.ask({ path: "/", headers: { "Tidings-Page": null } });
    expect(page.status).toBe(200);
    const files = [...page.text.matchAll(/(?:href|src)="\.(\/assets\/[^"]+)"/g)].map(
      ([, file]) => file,
    );
    expect(files).toEqual(["/assets/shared-c3.css", "/assets/main-d4.css", "/assets/main-a1.js"]);
    for (const path of files) {
      const { status, headers } = await site.ask({
        path: path ?? "",
        headers: { "Tidings-Page": null },
      });
      expect([status, headers["cache-control"]]).toEqual([
        200,
        "public, max-age=31536000, immutable",
      ]);
    }
    const session = await site.ask({ path: "/session", headers: signedIn });
    expect(session.json()).toMatchObject({
      operator: anna.operator,
      account_id: anna.account_id,
      mode: "sandbox",
      may: keyScopes,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as unknown,
    });
    expect((await site.ask({ ...inbound, headers: signedIn })).status).toBe(201);
    const { data } = (await site.ask({ path: "/v1/conversations", headers: signedIn })).json() as {
      data: { id: string }[];
    };
    const reply = await site.ask({
      method: "POST",
      path: `/v1/conversations/${data[0]?.id}/messages`,
      headers: { ...signedIn, "Idempotency-Key": "k" },
      body: { body: "Hello" },
    });
    expect(reply.json()).toMatchObject({ author: { type: "human", id: "anna" } });
  });

  it("is not sent again to a browser that has it", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize }), mounting);
    const { etag = "", "content-security-policy": policy } = (await site.ask({ path: "/" }))
      .headers;
    const again = await site.ask({ path: "/", headers: { "If-None-Match": etag } });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect(again.headers["content-security-policy"]).toBe(policy);
    expect((await site.ask({ path: "/", headers: { "If-None-Match": '"old"' } })).status).toBe(200);
  });

  it("streams events as they are committed", async () => {
    const engine = engineOf();
    const site = await siteOf(pageOf(engine, { authorize }), mounting);
    const stream = await site.follow({ path: "/v1/events/stream", headers: signedIn });
    await engine.sandbox.inbound({ from: phone, body: "Hi" });
    await eventually(() => expect(stream.text()).toContain("event: message.received"));
  });

  it("opens a local session by its token, and only the cookie lets requests in", async () => {
    const page = pageOf(engineOf());
    const site = await siteOf(page, mounting);
    const refused = await site.ask({ path: "/session" });
    expect(refused.json()).toMatchObject({ status: 401, code: "missing_session" });
    expect(refused.json()["detail"]).toContain("inboxHandler(engine, { authorize })");
    const cookie = await signIn(site, page);
    const session = await site.ask({ path: "/session", headers: { Cookie: cookie } });
    expect(session.json()).toMatchObject({ mode: "sandbox", account_id: defaultAccountId });
    expect((await site.ask({ ...inbound, headers: { Cookie: cookie } })).status).toBe(201);
    expect((await site.ask(inbound)).status).toBe(401);
  });

  it("passes on to the page's final slash, and answers 404 to other paths", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize }), mounting);
    if (mounting.prefix !== "") {
      const { status, headers } = await site.ask({ path: "" });
      const target = new URL(headers.location ?? "", site.base).href;
      expect([status, target]).toEqual([307, `${site.base}/`]);
    }
    const paths = ["/nothing", "/assets/secret.js", "/assets/../manifest.json", "/manifest.json"];
    for (const path of paths) {
      // As the page asks, and as a person who enters the address.
      for (const asks of [{}, { "Tidings-Page": null }]) {
        const { status, headers } = await site.ask({ path, headers: { ...signedIn, ...asks } });
        expect([path, status]).toEqual([path, 404]);
        expect(headers["content-type"]).toContain("application/problem+json");
      }
    }
  });
});

describe("a page under a path on a server that hands over every request", () => {
  const basePath = "/desk";
  const remoteAddress = (): string => "127.0.0.1";
  const listeners: readonly [string, PageMounting["listener"]][] = [
    ["node:http", (page) => nodeHandler(page, { basePath })],
    ["fetch", (page) => overFetch(fetchHandler(page, { basePath, remoteAddress }))],
  ];

  it.each(listeners)("does not show itself outside its path, on %s", async (_, listener) => {
    const site = await siteOf(pageOf(engineOf(), { authorize }), { prefix: "", listener });
    expect((await site.ask({ path: "/desk" })).status).toBe(307);
    expect((await site.ask({ path: "/desk/" })).status).toBe(200);
    for (const path of ["/", "/other", "/other/", "/desks/", "//desk", "/?/desk"]) {
      const { status } = await site.ask({ path, headers: { "Tidings-Page": null } });
      expect([path, status]).toEqual([path, 404]);
    }
  });
});

describe("a request that another website makes the browser send", () => {
  const body = { name: "stolen" };
  const write: Asked = { method: "POST", path: "/v1/api-keys", body };
  const foreign: readonly [string, Asked][] = [
    ["reads without the page's header", { path: "/v1/account", headers: { "Tidings-Page": null } }],
    ["writes without the page's header", { ...write, headers: { "Tidings-Page": null } }],
    ["writes from another site", { ...write, headers: { "Sec-Fetch-Site": "cross-site" } }],
    ["writes from a sister site", { ...write, headers: { "Sec-Fetch-Site": "same-site" } }],
    ["writes from nowhere", { ...write, headers: { "Sec-Fetch-Site": null } }],
    [
      "writes from another origin",
      { ...write, headers: { "Sec-Fetch-Site": null, Origin: "https://attacker.example" } },
    ],
    ["writes from no origin", { ...write, headers: { "Sec-Fetch-Site": null, Origin: "null" } }],
    [
      "asks what it may send",
      { method: "OPTIONS", path: "/v1/api-keys", headers: { "Tidings-Page": null } },
    ],
  ];

  it.each(foreign)("is refused when it %s", async (_, asked) => {
    const engine = engineOf();
    const site = await siteOf(pageOf(engine, { authorize }));
    const answer = await site.ask({ ...asked, headers: { ...signedIn, ...asked.headers } });
    expect([answer.status, answer.json()["code"]]).toEqual([403, "foreign_origin"]);
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    expect((await engine.apiKeys.list()).data).toEqual([]);
  });

  it("is not refused from the page itself in a browser without Sec-Fetch-Site", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize }));
    const headers = {
      ...signedIn,
      "Sec-Fetch-Site": null,
      Origin: `http://localhost:${site.port}`,
    };
    expect((await site.ask({ ...write, headers })).status).toBe(201);
    // Another server on the same machine is another origin.
    const other = { ...headers, Origin: "http://localhost:1" };
    expect((await site.ask({ ...write, headers: other })).status).toBe(403);
  });
});

describe("authorize", () => {
  it("is asked on every request, with what it needs to find the person", async () => {
    const seen: PageRequest[] = [];
    const page = pageOf(engineOf(), {
      authorize: (request) => {
        seen.push(request);
        return anna;
      },
    });
    const site = await siteOf(page);
    await site.ask({ path: "/session?x=1", headers: signedIn });
    await site.ask({ path: "/v1/account" });
    expect(seen).toMatchObject([
      {
        method: "GET",
        url: "/session?x=1",
        headers: { cookie: "shop=anna", host: `localhost:${site.port}` },
        remoteAddress: "127.0.0.1",
        original: { url: "/session?x=1" },
      },
      { url: "/v1/account" },
    ]);
  });

  it("that says no keeps everything closed, and the page says what to do", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize: () => null }));
    for (const path of ["/session", "/v1/account", "/v1/openapi.json", "/media/msg_x/0"]) {
      const answer = await site.ask({ path });
      expect(answer.json()).toMatchObject({ status: 401, code: "not_signed_in" });
    }
    // There is no other way in.
    expect((await site.ask({ method: "POST", path: "/session", body: {} })).status).toBe(405);
  });

  it("that fails or answers nonsense lets nobody in, and is logged with the reason", async () => {
    const answers: readonly [unknown, RegExp][] = [
      [undefined, /got undefined/],
      [{}, /account_id: expected the id of an account/],
      [{ ...anna, may: ["everything"] }, /may/],
      [{ ...anna, operator: { id: " ", name: "Anna" } }, /operator\.id: expected a string/],
      [{ ...anna, mode: "a secret" }, /mode: expected "sandbox" or "live"/],
      [{ ...anna, role: "admin" }, /role: unknown option\. Known options: account_id/],
    ];
    for (const [answer, reason] of answers) {
      const { engine, log } = world();
      const page = pageOf(engine(memory()), { authorize: () => answer as PageAccess });
      const site = await siteOf(page);
      const { status, text } = await site.ask({ path: "/v1/account" });
      expect([status, JSON.parse(text)]).toMatchObject([500, { code: "internal", errors: [] }]);
      expect(text).not.toMatch(reason);
      const errors = log.filter(({ level }) => level === "error");
      expect(errors.map(({ facts }) => String(Reflect.get(facts, "err")))).toEqual([
        expect.stringMatching(reason),
      ]);
    }
    const { engine, log } = world();
    const secret = "password of the session store";
    const page = pageOf(engine(memory()), { authorize: () => Promise.reject(new Error(secret)) });
    const site = await siteOf(page);
    const { status, text } = await site.ask({ path: "/session" });
    expect([status, text.includes(secret)]).toEqual([500, false]);
    expect(JSON.stringify(log)).toContain(secret);
  });

  it("decides about the account, the mode and the rights", async () => {
    const engine = engineOf();
    const { account } = await engine.accounts.create({ name: "Other" });
    const access: PageAccess = { ...anna, account_id: account.id, mode: "live", may: [] };
    const site = await siteOf(pageOf(engine, { authorize: () => access }));
    const shown = await site.ask({ path: "/v1/account" });
    expect(shown.json()["id"]).toBe(account.id);
    const refused = await site.ask({ path: "/v1/conversations" });
    expect(refused.json()).toMatchObject({ status: 403, code: "insufficient_scope" });
  });

  it("that never answers fails the request and ends open streams", async () => {
    const { engine, clock, log } = world();
    let isStuck = false;
    const page = pageOf(engine(memory()), {
      authorize: () => (isStuck ? new Promise<never>(() => {}) : anna),
    });
    const site = await siteOf(page);
    const stream = await site.follow({ path: "/v1/events/stream" });
    isStuck = true;
    // The stream asks after 30 seconds or a little more, and waits 10 seconds.
    for (let count = 0; count < 6; count++) await clock.advance(10_000);
    await eventually(() => expect(stream.isOver()).toBe(true));
    let answered: Answered | undefined;
    void site.ask({ path: "/v1/account" }).then((answer) => (answered = answer));
    await eventually(async () => {
      await clock.advance(10_000);
      expect(answered?.json()).toMatchObject({ status: 503, code: "overloaded" });
    });
    expect(JSON.stringify(log)).toContain("authorize did not answer within 10 seconds");
  });

  it("that says no ends open streams", async () => {
    const { engine, clock } = world();
    let isIn = true;
    const page = pageOf(engine(memory()), { authorize: () => (isIn ? anna : null) });
    const site = await siteOf(page);
    const stream = await site.follow({ path: "/v1/events/stream" });
    await clock.advance(60_000);
    expect(stream.isOver()).toBe(false);
    isIn = false;
    await clock.advance(45_000);
    await eventually(() => expect(stream.isOver()).toBe(true));
  });
});

describe("the headers of a page", () => {
  const directives = (policy: string | string[] | undefined): Record<string, string[]> =>
    Object.fromEntries(
      String(policy)
        .split("; ")
        .map((each) => {
          const [name = "", ...values] = each.split(" ");
          return [name, values];
        }),
    );

  it("allow no code, style, frame, form or connection but its own", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize }));
    const { headers, text } = await site.ask({ path: "/" });
    expect(directives(headers["content-security-policy"])).toEqual({
      "default-src": ["'none'"],
      "script-src": ["'self'"],
      "style-src": ["'self'"],
      "font-src": ["'self'"],
      "connect-src": ["'self'"],
      "img-src": ["'self'", "blob:", "data:"],
      "media-src": ["'self'", "blob:"],
      "base-uri": ["'none'"],
      "form-action": ["'none'"],
      "frame-ancestors": ["'none'"],
      "require-trusted-types-for": ["'script'"],
      "trusted-types": ["'none'"],
    });
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(text).not.toMatch(/<style|style=|<script(?! type="module" src=)/);
  });

  it("let the host's pages show it in a frame, and load pictures of operators", async () => {
    const options = {
      authorize,
      frameAncestors: ["self", "https://shop.example"],
      avatarOrigins: ["https://cdn.shop.example"],
    };
    const site = await siteOf(pageOf(engineOf(), options));
    const { headers } = await site.ask({ path: "/" });
    expect(directives(headers["content-security-policy"])).toMatchObject({
      "frame-ancestors": ["'self'", "https://shop.example"],
      "img-src": ["'self'", "blob:", "data:", "https://cdn.shop.example"],
    });
    expect(headers["x-frame-options"]).toBeUndefined();
  });

  it("on its data forbid browsers to show them as a document", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize }));
    for (const path of ["/session", "/v1/account", "/v1/nothing"]) {
      const { headers } = await site.ask({ path, headers: signedIn });
      expect(headers).toMatchObject({
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
      });
    }
  });
});

describe("the files of a page", () => {
  it("are compressed for browsers that take it", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize }));
    const ask = (encodings: string) =>
      site.ask({ path: "/assets/main-a1.js", headers: { "Accept-Encoding": encodings } });
    const [plain, gzip, br, refused] = [
      await ask(""),
      await ask("gzip, deflate"),
      await ask("gzip, deflate, br, zstd"),
      await ask("br;q=0, identity"),
    ];
    expect([plain, gzip, br, refused].map(({ headers }) => headers["content-encoding"])).toEqual([
      undefined,
      "gzip",
      "br",
      undefined,
    ]);
    expect(gunzipSync(gzip.bytes).toString()).toBe(plain.text);
    expect(brotliDecompressSync(br.bytes).toString()).toBe(plain.text);
    expect(plain.headers).toMatchObject({
      vary: "Accept-Encoding",
      "content-type": "text/javascript; charset=utf-8",
    });
  });

  it("that were not built are reported when the page is made, with what to do", () => {
    const empty = mkdtempSync(`${tmpdir()}/tidings-unbuilt-`);
    onTestFinished(() => rmSync(empty, { recursive: true }));
    expect(() => pageOf(engineOf(), {}, pathToFileURL(`${empty}/`))).toThrow(
      /inboxHandler: the page is not in file:.* --external:tidings\..*npm run compile/,
    );
  });
});

it("a wrong option of a page is reported with what was expected", () => {
  const engine = engineOf();
  const wrong: readonly [unknown, object, RegExp][] = [
    [{}, {}, /inboxHandler: engine: expected a MessagingEngine, got an object$/],
    [
      { api: { handle: () => {} } },
      {},
      /got an object of another copy of tidings\. Load the package/,
    ],
    [engine, { authorise: authorize }, /Did you mean "authorize"\?/],
    [
      engine,
      { authorize: true },
      /authorize: expected a function that returns who may use the page/,
    ],
    [
      engine,
      { frameAncestors: ["shop.example"] },
      /frameAncestors\.0: expected "self", or an origin/,
    ],
    [
      engine,
      { avatarOrigins: ["https://a.example;script-src"] },
      /avatarOrigins\.0: expected an or/,
    ],
    [engine, { locale: "english please" }, /locale: expected a language, such as "de-CH"/],
    [engine, { texts: { reply: 7 } }, /texts: expected an object with a text/],
  ];
  for (const [given, options, message] of wrong) {
    expect(() => inboxHandler(given as typeof engine, options)).toThrow(message);
  }
});

it("a page gives its texts and its language to the browser", async () => {
  const texts = { reply: "Antworten", unread: { one: "{count} neu", other: "{count} neue" } };
  const page = pageOf(engineOf(), { authorize, texts, locale: "de-CH" });
  const session = await (await siteOf(page)).ask({ path: "/session", headers: signedIn });
  expect(session.json()).toMatchObject({ texts, locale: "de-CH" });
});

it("two pages and the API of one engine stand side by side", async () => {
  const engine = engineOf();
  const folder = builtFolder();
  const pages = [pageOf(engine, { authorize }, folder), pageOf(engine, {}, folder)];
  const sites = await Promise.all(pages.map((page) => siteOf(page)));
  const statuses = sites.map(async (site) => (await site.ask({ path: "/session" })).status);
  expect(await Promise.all(statuses)).toEqual([401, 401]);
});
