/** Files that strangers send: shown only when a person asks, and never from a private host. */
import { expect, it, onTestFinished } from "vitest";
import { httpClient } from "../../adapters/http-client/index.ts";
import { memory } from "../../adapters/storage/memory/index.ts";
import type { PageAccess } from "../../adapters/web/shared/server/options.ts";
import { defaultAccountId } from "../../src/accounts/prepare-storage.ts";
import type { MessagingEngine } from "../../src/engine.ts";
import { keyScopes, type KeyScope } from "../../src/operations/caller.ts";
import { checkUrl } from "../../src/ports/destinations.ts";
import type { HttpClient, HttpOutcome, HttpRequest } from "../../src/ports/http-client.ts";
import { world } from "../support/engines/world.ts";
import { listening } from "../support/listening.ts";
import { engineOf, pageOf, siteOf, type Answered, type Site } from "./pages.ts";

const picture = Buffer.from("89504e470d0a1a0a", "hex");
const cdn = "https://cdn.example.com";

const answer = (
  headers: Record<string, string>,
  { status = 200, body = picture, truncated = false } = {},
): HttpOutcome => ({
  outcome: "answered",
  address: "203.0.113.9",
  status,
  headers,
  body,
  truncated,
});

/** The public Internet, which tests cannot reach: answers by URL. Refuses as the real client does. */
function internet(sites: Readonly<Record<string, HttpOutcome>>): {
  readonly client: HttpClient;
  readonly asked: HttpRequest[];
} {
  const asked: HttpRequest[] = [];
  const client: HttpClient = {
    async send(request) {
      asked.push(request);
      const checked = checkUrl(request.url, request.to);
      if (!checked.ok) {
        const { code, message } = checked;
        return { outcome: "failed", code, message, sent: false, address: null, partial: null };
      }
      return sites[request.url] ?? answer({}, { status: 404 });
    },
    close() {},
  };
  return { client, asked };
}

async function siteWith(
  engine: MessagingEngine,
  may: readonly KeyScope[] = keyScopes,
): Promise<Site> {
  const operator = { id: "anna", name: "Anna" };
  const access = { account_id: defaultAccountId, mode: "sandbox", operator, may } as const;
  return siteOf(pageOf(engine, { authorize: () => access }));
}

/** Lets a contact send files, and asks the page for the first of them. */
async function shown(
  engine: Pick<MessagingEngine, "sandbox">,
  site: Site,
  url: string,
  index: number | string = 0,
): Promise<Answered> {
  const { id } = await engine.sandbox.inbound({
    from: "+15005550001",
    body: "Look",
    media: [{ url, content_type: "image/png" }],
  });
  return site.ask({ path: `/media/${id}/${index}` });
}

it("a picture is fetched by the server, and the browser sees nothing of where it came from", async () => {
  const { client, asked } = internet({
    [`${cdn}/a.png`]: answer({ "content-type": "image/png; q=1", "set-cookie": "track=1" }),
  });
  const engine = engineOf({ http: { client } });
  const { status, bytes, headers } = await shown(engine, await siteWith(engine), `${cdn}/a.png`);
  expect([status, bytes]).toEqual([200, picture]);
  expect(headers).toMatchObject({
    "content-type": "image/png",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  expect(headers["set-cookie"]).toBeUndefined();
  // Nothing of the person, their browser or the page reaches the other server.
  expect(asked.map((request) => request.headers)).toEqual([
    { Accept: "image/*, audio/*, video/*" },
  ]);
});

it("only files of messages that the person may read are fetched", async () => {
  const { client, asked } = internet({ [`${cdn}/a.png`]: answer({ "content-type": "image/png" }) });
  const engine = engineOf({ http: { client } });
  const site = await siteWith(engine);
  const limited = await siteWith(engine, ["conversations:read"]);
  expect((await shown(engine, limited, `${cdn}/a.png`)).status).toBe(403);
  expect((await shown(engine, site, `${cdn}/a.png`, 1)).status).toBe(404);
  for (const path of [
    "/media/msg_unknown/0",
    `/media?url=${cdn}/a.png`,
    "/media/..%2Fapi-keys/0",
  ]) {
    expect([path, (await site.ask({ path })).status]).toEqual([path, 404]);
  }
  const { id } = await engine.sandbox.inbound({
    from: "+15005550001",
    body: "Look",
    media: [{ url: `${cdn}/a.png`, content_type: "image/png" }],
  });
  await engine.messages.redact(id);
  expect((await site.ask({ path: `/media/${id}/0` })).status).toBe(404);
  // An image element of another website sends no header.
  const foreign = await site.ask({ path: `/media/${id}/0`, headers: { "Tidings-Page": null } });
  expect(foreign.status).toBe(403);
  expect(asked).toEqual([]);
});

it("what is no picture, sound or video, is too large or is missing gets 502 with the reason", async () => {
  const sites: Readonly<Record<string, HttpOutcome>> = {
    "page.html": answer({ "content-type": "text/html" }),
    "code.svg": answer({ "content-type": "image/svg+xml" }),
    untyped: answer({}),
    "large.png": answer({ "content-type": "image/png" }, { truncated: true }),
    "gone.png": answer({ "content-type": "image/png" }, { status: 410 }),
    "loop.png": answer({ location: "/loop.png" }, { status: 302 }),
    "inward.png": answer({ location: "http://10.0.0.1/admin" }, { status: 302 }),
    "local.png": answer({ location: "http://[::1]/admin" }, { status: 302 }),
  };
  const urls = Object.entries(sites).map(([name, each]) => [`${cdn}/${name}`, each]);
  const { client } = internet(Object.fromEntries(urls) as typeof sites);
  const engine = engineOf({ http: { client } });
  const site = await siteWith(engine);
  for (const name of Object.keys(sites)) {
    const refused = await shown(engine, site, `${cdn}/${name}`);
    expect(refused.json()).toMatchObject({ status: 502, code: "media_unavailable" });
    expect(refused.text).not.toContain("admin");
  }
});

it("a picture that moved is found", async () => {
  const { client } = internet({
    [`${cdn}/old.png`]: answer({ location: "../new.png" }, { status: 307 }),
    [`${cdn}/new.png`]: answer({ "content-type": "image/png" }),
  });
  const engine = engineOf({ http: { client } });
  expect((await shown(engine, await siteWith(engine), `${cdn}/old.png`)).status).toBe(200);
});

it("a private host is never contacted, even if the host application allows it to webhooks", async () => {
  let requests = 0;
  const port = await listening((_, response) => {
    requests++;
    response.setHeader("Content-Type", "image/png").end(picture);
  });
  const client = httpClient();
  onTestFinished(() => client.close());
  const engine = engineOf({ http: { client, allow: ["127.0.0.1", "localhost"] } });
  const site = await siteWith(engine);
  for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"]) {
    const refused = await shown(engine, site, `http://${host}:${port}/a.png`);
    expect(refused.json()).toMatchObject({ status: 502, code: "media_unavailable" });
  }
  expect(requests).toBe(0);
});

it("a file that its server does not send is not logged as a fault of the service", async () => {
  const logged: [string, object][] = [];
  const log = (level: string) => (facts: object) => void logged.push([level, facts]);
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const engine = engineOf({ http: { client: internet({}).client }, logger });
  const { status } = await shown(engine, await siteWith(engine), `${cdn}/gone.png`);
  expect(status).toBe(502);
  const files = logged.filter(([, facts]) => "path" in facts);
  expect(files).toEqual([
    ["debug", expect.objectContaining({ code: "media_unavailable", method: "GET" })],
  ]);
  expect(files[0]?.[1]).not.toHaveProperty("err");
});

it("at most four files of an account are fetched at once, and other accounts do not wait", async () => {
  let tooMany = (_: Error): void => {};
  const allHeld = new Promise<never>((_, reject) => {
    tooMany = reject;
  });
  const held: ((outcome: HttpOutcome) => void)[] = [];
  const quick = `${cdn}/quick.png`;
  const picture = answer({ "content-type": "image/png" });
  const client: HttpClient = {
    send: async ({ url }) =>
      url === quick
        ? picture
        : new Promise((resolve) => {
            if (held.push(resolve) === 5) tooMany(new Error("Five files are fetched at once."));
          }),
    close() {},
  };
  const engine = engineOf({ http: { client } });
  const { account } = await engine.accounts.create({ name: "Other" });
  let account_id: string = defaultAccountId;
  const operator = { id: "anna", name: "Anna" };
  const authorize = (): PageAccess => ({ account_id, mode: "sandbox", operator, may: keyScopes });
  const site = await siteOf(pageOf(engine, { authorize }));
  const asked = Array.from({ length: 5 }, () => shown(engine, site, `${cdn}/a.png`));
  const refused = await Promise.race([...asked, allHeld]);
  expect(refused.json()).toMatchObject({ status: 503, code: "overloaded" });
  account_id = account.id;
  const other = await shown(engine.account(account.id), site, quick);
  expect(other.status).toBe(200);
  for (const resolve of held) resolve(picture);
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 503]);
  expect((await shown(engine.account(account.id), site, quick)).status).toBe(200);
});

it("redirects get no more time than one file", async () => {
  const { engine: engineIn, clock } = world();
  const deadlines: number[] = [];
  const client: HttpClient = {
    async send({ deadline_ms }) {
      deadlines.push(deadline_ms);
      await clock.advance(6_000);
      return answer({ location: "/next.png" }, { status: 302 });
    },
    close() {},
  };
  const engine = engineIn(memory(), { http: { client } });
  const refused = await shown(engine, await siteWith(engine), `${cdn}/a.png`);
  expect(refused.json()).toMatchObject({ status: 502, code: "media_unavailable" });
  expect(deadlines).toEqual([15_000, 9_000, 3_000]);
});

it("an engine without an HTTP client says which option is missing", async () => {
  const engine = engineOf();
  const refused = await shown(engine, await siteWith(engine), `${cdn}/a.png`);
  expect(refused.json()).toMatchObject({ status: 501, code: "not_configured" });
  expect(refused.text).toContain("httpClient()");
});
