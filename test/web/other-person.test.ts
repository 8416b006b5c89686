/** Requests that a page makes for one person, while the application may have signed in another. */
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import type { Authorize } from "../../adapters/web/shared/server/options.ts";
import { defaultAccountId } from "../../src/accounts/prepare-storage.ts";
import { keyScopes } from "../../src/operations/caller.ts";
import { newContext } from "../support/browser/chromium.ts";
import { world } from "../support/engines/world.ts";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { engineOf, pageOf, siteOf, type Asked, type Site } from "./pages.ts";
import { pictures } from "./pictures.ts";
import { newShop, newTab, servePage, waitForQuota } from "./shop-pages.ts";

/** Ids of operators as applications may have them: no header can have most of them as they are. */
const ids: readonly (readonly [name: string, id: string])[] = [
  ["a plain name", "anna"],
  ["an address", "anna+desk@shop.example"],
  ["another script", "Ζωή 🌱"],
  ["spaces around", "  anna  "],
  ["line breaks and control characters", "anna\r\nSet-Cookie: a=1\u0001\u007f"],
  ["quotes, commas and percent signs", `"a", 'b' \\ %22 %`],
  ["the longest", "🌱".repeat(200)],
];

const may = [...keyScopes];

/** A page where `id` of the cookie is signed in, in this account and mode. */
const authorize: Authorize = ({ headers }) => ({
  account_id: defaultAccountId,
  mode: "sandbox",
  operator: { id: decodeURIComponent(headers["cookie"] ?? ""), name: "Anna" },
  may,
});

/** The headers of a page that shows the sandbox to `shown`, in a browser where `id` is signed in. */
const headersOf = (id: string, shown: string, mode = "sandbox"): Record<string, string> => ({
  Cookie: encodeURIComponent(id),
  "Tidings-Person": encodeURIComponent(JSON.stringify([defaultAccountId, mode, shown])),
});

/** A message with a picture, and a request of each kind that a page makes. */
async function shop() {
  const engine = engineOf({ http: { client: pictures } });
  const { id } = await engine.sandbox.inbound({
    from: "+15005550001",
    body: "Look",
    media: [{ url: "https://cdn.example.com/a.png" }],
  });
  const requests: readonly Asked[] = [
    { path: "/session" },
    { path: "/v1/conversations" },
    { method: "POST", path: "/v1/sandbox/inbound", body: { from: "+15005550002", body: "Hi" } },
    { path: `/media/${id}/0` },
  ];
  return { engine, site: await siteOf(pageOf(engine, { authorize })), requests };
}

const openStream = (site: Site, headers: Record<string, string>) =>
  site.follow({ path: "/v1/events/stream", headers });

describe.each(ids)("a page of an operator whose id is %s", (_, id) => {
  it("gets all that it asks for", async () => {
    const { engine, site, requests } = await shop();
    const headers = headersOf(id, id);
    for (const asked of requests) {
      const { status } = await site.ask({ ...asked, headers });
      expect([asked.path, status]).toEqual([asked.path, asked.method === "POST" ? 201 : 200]);
    }
    const stream = await openStream(site, headers);
    const { conversation_id } = await engine.sandbox.inbound({ from: "+15005550003", body: "Hi" });
    await eventually(() => expect(stream.text()).toContain("event: message.received"));
    const reply = await site.ask({
      method: "POST",
      path: `/v1/conversations/${conversation_id}/messages`,
      headers: { ...headers, "Idempotency-Key": "k" },
      body: { body: "Hello" },
    });
    expect(reply.json()).toMatchObject({ author: { type: "human", id } });
  });

  it("gets nothing while another person is signed in, or in another mode", async () => {
    const { engine, site, requests } = await shop();
    for (const headers of [headersOf("lee", id), headersOf(id, id, "live")]) {
      for (const asked of requests) {
        const { status, json } = await site.ask({ ...asked, headers });
        expect([asked.path, status, json()["code"]]).toEqual([asked.path, 401, "not_signed_in"]);
      }
      await expect(openStream(site, headers)).rejects.toThrow("401");
    }
    expect((await engine.messages.list()).data).toHaveLength(1);
  });
});

longTest.for(ids.slice(4))(
  "the inbox works for an operator whose id is %s",
  async ([, id], { skip }) => {
    const { engine, shop, authorize } = await newShop({ http: { client: pictures } });
    const { url } = await servePage(
      inboxHandler(engine, {
        async authorize(request) {
          const access = await authorize(request);
          return access && { ...access, operator: { id, name: "Anna" } };
        },
      }),
    );
    const { page, faults } = await newTab(await newContext(skip));
    const { conversation_id } = await shop.sandbox.inbound({
      from: "+14155550100",
      body: "Look",
      media: [{ url: "https://cdn.example.com/a.png" }],
    });
    await page.goto(`${url}#/all/${conversation_id}`);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.locator("img.attachment-file").waitFor();
    await page.getByRole("button", { name: "More actions" }).waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("Enter");
    await page.locator(".conversation-sub", { hasText: "You" }).waitFor();
    await shop.sandbox.inbound({ from: "+14155550100", body: "Did you see it?" });
    await page.locator(".message", { hasText: "Did you see it?" }).waitFor();
    await page.locator(".composer-area").fill("I did.");
    await waitForQuota(page, url);
    await page.reload();
    await page.locator(".composer-area").press("Control+Enter");
    await page.locator(".message.is-out[data-status=delivered]", { hasText: "I did." }).waitFor();
    expect((await shop.conversations.get(conversation_id)).assignee).toEqual({ type: "human", id });
    expect(faults).toEqual([]);
  },
);

it("an open stream of a page ends once another person is signed in", async () => {
  const { engine, clock } = world();
  let signedIn = "anna";
  const page = pageOf(engine(memory()), {
    authorize: () => ({
      account_id: defaultAccountId,
      mode: "sandbox",
      operator: { id: signedIn, name: "Anna" },
      may,
    }),
  });
  const stream = await openStream(await siteOf(page), headersOf("anna", "anna"));
  await clock.advance(60_000);
  expect(stream.isOver()).toBe(false);
  signedIn = "lee";
  await clock.advance(45_000);
  await eventually(() => expect(stream.isOver()).toBe(true));
});
