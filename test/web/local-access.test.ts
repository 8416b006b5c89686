/** Pages without `authorize`: for the person on this machine alone. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { PageMount } from "../../adapters/web/shared/server/page.ts";
import { jsonOf } from "../api/call.ts";
import { world } from "../support/engines/world.ts";
import { engineOf, pageOf, signIn, siteOf, type Asked } from "./pages.ts";

describe("a page without authorize", () => {
  /** Requests that could come from elsewhere. */
  const strangers: readonly [string, NonNullable<Asked["headers"]>][] = [
    ["a website that names this machine", { Host: "attacker.example" }],
    ["a name that begins like this machine", { Host: "localhost.attacker.example" }],
    ["an address in another form", { Host: "127.1" }],
    ["no host", { Host: "" }],
    ["a proxy", { "X-Forwarded-For": "203.0.113.9" }],
    ["a proxy with the standard's header", { Forwarded: "for=203.0.113.9" }],
    ["a proxy that tells only the protocol", { "X-Forwarded-Proto": "https" }],
    ["a proxy of nginx", { "X-Real-IP": "203.0.113.9" }],
    ["a cache", { Via: "1.1 cache" }],
    ["a tunnel", { "CF-Connecting-IP": "203.0.113.9" }],
    ["a service mesh", { "X-Envoy-External-Address": "203.0.113.9" }],
    ["a balancer", { "True-Client-IP": "203.0.113.9" }],
    ["a proxy that adds nothing and replaces the host", { Origin: "https://desk.example" }],
  ];

  it.each(strangers)(
    "refuses %s, also with the cookie, and says how to let people in",
    async (_, headers) => {
      const page = pageOf(engineOf());
      const site = await siteOf(page);
      const cookie = await signIn(site, page);
      const own = { Cookie: cookie };
      expect((await site.ask({ path: "/session", headers: own })).status).toBe(200);
      const asked: readonly Asked[] = [
        { path: "/session" },
        { path: "/v1/conversations" },
        { path: "/v1/openapi.json" },
        { path: "/v1/events/stream" },
        { path: "/media/msg_x/0" },
        { method: "POST", path: "/session", body: { token: page.token } },
      ];
      for (const each of asked) {
        const answer = await site.ask({ ...each, headers: { ...own, ...headers } });
        expect(answer.json()).toMatchObject({
          status: 403,
          code: "local_only",
          detail: expect.stringContaining("inboxHandler(engine, { authorize })") as unknown,
        });
      }
      const shown = await site.ask({ path: "/", headers });
      expect(shown.status).toBe(403);
      expect(shown.text).toContain("inboxHandler(engine, { authorize })");
      expect(shown.text).not.toContain("<script");
      // It has the look of the page, which everyone may load.
      const style = /href="\.(\/[^"]+\.css)"/.exec(shown.text)?.[1] ?? "";
      expect((await site.ask({ path: style, headers })).status).toBe(200);
    },
  );

  it.each(["localhost", "127.0.0.1", "127.8.9.1", "[::1]", "desk.localhost", "LOCALHOST"])(
    "works at %s",
    async (host) => {
      const page = pageOf(engineOf());
      const site = await siteOf(page);
      const headers = { Host: `${host}:${site.port}` };
      expect((await site.ask({ path: "/session", headers })).status).toBe(401);
    },
  );

  it.each([undefined, "", "192.168.1.7", "::ffff:192.168.1.7", "2001:db8::1", "localhost"])(
    "refuses a connection from %j",
    async (remoteAddress) => {
      const page = pageOf(engineOf());
      const answer = await askDirectly(page, remoteAddress);
      expect(answer).toEqual([403, "local_only"]);
    },
  );

  it.each(["127.0.0.1", "::1", "::ffff:127.0.0.1"])(
    "accepts a connection from %j",
    async (remoteAddress) => {
      expect(await askDirectly(pageOf(engineOf()), remoteAddress)).toEqual([
        401,
        "missing_session",
      ]);
    },
  );

  it("sets a cookie that scripts and other sites cannot use, and that names the port", async () => {
    const page = pageOf(engineOf());
    const site = await siteOf(page);
    const body = { token: page.token };
    const { headers } = await site.ask({ method: "POST", path: "/session", body });
    expect(headers["set-cookie"]).toEqual([
      expect.stringMatching(
        new RegExp(`^tidings_session_${site.port}=[\\w-]{32}; Path=/; HttpOnly; SameSite=Strict$`),
      ),
    ]);
    expect(headers["set-cookie"]?.join()).not.toContain(page.token);
  });

  it("refuses wrong tokens and wrong cookies, and limits the attempts", async () => {
    const { engine } = world();
    const page = pageOf(engine(memory()));
    const site = await siteOf(page);
    const attempt = async (token: unknown): Promise<number> =>
      (await site.ask({ method: "POST", path: "/session", body: { token } })).status;
    for (const token of ["", "wrong", 7, null]) expect(await attempt(token)).toBe(403);
    expect(await attempt(page.token)).toBe(204);
    expect(await attempt(page.token)).toBe(429);
    const name = `tidings_session_${site.port}`;
    for (const Cookie of [`${name}=`, `${name}=${page.token}`, `other=${page.token}`]) {
      expect((await site.ask({ path: "/session", headers: { Cookie } })).status).toBe(401);
    }
  });

  it("stays open when another server on this machine sets a cookie of the same name", async () => {
    const page = pageOf(engineOf());
    const site = await siteOf(page);
    const cookie = await signIn(site, page);
    const Cookie = `tidings_session_${site.port}=foreign; ${cookie}`;
    expect((await site.ask({ path: "/session", headers: { Cookie } })).status).toBe(200);
  });

  it("shares its token and cookie with the other pages of the engine, and with no other engine", async () => {
    const engine = engineOf();
    const [one, other, stranger] = [pageOf(engine), pageOf(engine), pageOf(engineOf())];
    expect(other.token).toBe(one.token);
    expect(stranger.token).not.toBe(one.token);
    const cookie = await signIn(await siteOf(one), one);
    const value = cookie.slice(cookie.indexOf("=") + 1);
    const statusAt = async (page: PageMount): Promise<number> => {
      const site = await siteOf(page);
      const headers = { Cookie: `theme=dark; tidings_session_${site.port}=${value}` };
      return (await site.ask({ path: "/session", headers })).status;
    };
    expect([await statusAt(other), await statusAt(stranger)]).toEqual([200, 401]);
  });
});

/** A request from an address, which the loopback cannot have. */
async function askDirectly(
  { api }: PageMount,
  remoteAddress: string | undefined,
): Promise<readonly unknown[]> {
  const answer = await api.handle({
    method: "GET",
    url: "/session",
    path: "/session",
    query: "",
    headers: ["Host", "localhost", "Tidings-Page", "1"],
    remoteAddress,
    body: () => Promise.resolve({ kind: "bytes", bytes: new Uint8Array() }),
    async *chunks() {},
    signal: new AbortController().signal,
  });
  return [answer.status, jsonOf(answer)["code"]];
}
