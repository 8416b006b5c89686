/** Addresses of places in a page that somebody typed or pasted without the `#`. */
import { describe, expect, it } from "vitest";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { longTest } from "../support/runs.ts";
import { engineOf, mountings, pageOf, siteOf } from "./pages.ts";
import { newShop, newTab, servePage } from "./shop-pages.ts";

describe.each(mountings)("a page on $name", (mounting) => {
  it("redirects a browser to the place in the page, and never to another origin", async () => {
    const site = await siteOf(pageOf(engineOf(), { authorize: () => null }), mounting);
    const person = { "Tidings-Page": null, Accept: "text/html,*/*;q=0.8" };
    const places = [
      "/messages",
      "/messages/",
      "/messages?status=failed&to=%2B1",
      "/agents/ag_1/run_1",
      "//elsewhere.example/messages",
      "/messages/%22%3E%3Cscript%3E%0D%0AX-Y:z",
    ];
    for (const path of places) {
      const { status, headers, text } = await site.ask({ path, headers: person });
      expect([path, status, text]).toEqual([path, 307, ""]);
      const target = new URL(headers.location ?? "", `${site.base}${path}`);
      expect(target.href).toBe(`${site.base}/#${path}`);
    }
    for (const path of ["/v1/messages", "/session", "/assets/secret.js", "/media/msg_1/0"]) {
      const { headers } = await site.ask({ path, headers: person });
      expect([path, headers.location]).toEqual([path, undefined]);
    }
    const post = await site.ask({ method: "POST", path: "/messages", headers: person });
    expect(post.status).toBe(404);
  });
});

describe("a browser", () => {
  longTest("shows the place, or that the page has no such place", async ({ skip }) => {
    const { engine, shop, authorize } = await newShop();
    const { conversation_id } = await shop.sandbox.inbound({ from: "+15005550001", body: "Hi" });
    const console = await servePage(consoleHandler(engine, { authorize }));
    const inbox = await servePage(inboxHandler(engine, { authorize }));
    const { page, faults } = await newTab(await newContext(skip));
    await page.goto(`${console.url}messages?direction=inbound`);
    await page.getByRole("row", { name: "Hi" }).waitFor();
    expect(page.url()).toBe(`${console.url}#/messages?direction=inbound`);
    await page.goto(`${inbox.url}all/${conversation_id}`);
    await page.locator(".message", { hasText: "Hi" }).waitFor();
    for (const { url } of [console, inbox]) {
      await page.goto(`${url}nothing/here`);
      await page.getByText(/There is no such (page|view)/).waitFor();
    }
    expect(faults).toEqual([]);
  });
});
