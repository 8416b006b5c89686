/** Larger text, texts of the other direction, and where a page begins. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { cases, longTest } from "../support/runs.ts";
import { newShop, newTab, openConsole, servePage } from "./shop-pages.ts";

const phone = "+14155550100";
/** The usual size of texts, and the one that some people set in their browser. */
const sizes = cases(["100%", "200%"], (each) => each === "200%");

/** How far parts of the first row stand below the row's top and above its bottom, in pixels. */
const roomIn = (page: Page, part: string): Promise<{ above: number; below: number }> =>
  page.evaluate(`(() => {
    const part = document.querySelector(".virtual-row " + ${JSON.stringify(part)});
    const [inner, outer] = [part, part.closest(".virtual-row")].map((each) => each.getBoundingClientRect());
    return { above: inner.top - outer.top, below: outer.bottom - inner.bottom };
  })()`);

longTest(
  "rows of the lists hold their texts, also for people who read larger text",
  async ({ skip }) => {
    const { engine, shop, authorize } = await newShop();
    await shop.sandbox.inbound({ from: phone, body: "Hello" });
    const context = await newContext(skip);
    const { url: inbox } = await servePage(inboxHandler(engine, { authorize }));
    const { url: consoleUrl } = await servePage(consoleHandler(engine, { authorize }));
    for (const size of sizes) {
      const { page } = await newTab(context);
      await page.addInitScript(
        `addEventListener("DOMContentLoaded", () => (document.documentElement.style.fontSize = "${size}"))`,
      );
      await page.goto(inbox);
      await page.locator(".row .badge").first().waitFor();
      const { above } = await roomIn(page, ".row-main");
      const { below } = await roomIn(page, ".row-facts");
      expect([size, Math.abs(above - below) <= 2]).toEqual([size, true]);
      await page.goto(`${consoleUrl}#/events`);
      await page.locator(".event-row").first().waitFor();
      const room = await roomIn(page, "time");
      expect(Math.min(room.above, room.below)).toBeGreaterThan(0);
    }
  },
);

/** The controls and names of a header that reach out of the screen, or over each other. */
const crowded = (page: Page, header: string): Promise<string[]> =>
  page.evaluate(`(() => {
    const parts = [...document.querySelectorAll(
      ["a", "button", "select", "h2", ".brand-mark", ".badge", ".rail-name", ".stream-state"]
        .map((each) => ${JSON.stringify(header)} + " " + each).join(),
    )].filter((each) => each.checkVisibility());
    const boxes = parts.map((each) => each.getBoundingClientRect());
    const name = (i) => parts[i].className + parts[i].textContent;
    return boxes.flatMap((a, i) => [
      ...(a.left < 0 || a.right > innerWidth ? [name(i)] : []),
      ...boxes.flatMap((b, j) =>
        j > i && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
          ? [name(i) + " / " + name(j)]
          : [],
      ),
    ]);
  })()`);

longTest(
  "the headers of a phone hold their parts, also for people who read larger text",
  async ({ skip }) => {
    const { engine, shop, authorize } = await newShop();
    await shop.contacts.create({ phone, name: "Ann Keller" });
    const { conversation_id: id } = await shop.sandbox.inbound({ from: phone, body: "Hello" });
    const context = await newContext(skip);
    const { url: inbox } = await servePage(inboxHandler(engine, { authorize }));
    const { url: consoleUrl } = await servePage(consoleHandler(engine, { authorize }));
    for (const size of sizes) {
      const { page } = await newTab(context, { width: 375, height: 812 });
      await page.addInitScript(
        `addEventListener("DOMContentLoaded", () => (document.documentElement.style.fontSize = "${size}"))`,
      );
      const isCrowded = async (header: string) => {
        await page.locator(header).waitFor();
        expect([size, header, await crowded(page, header)]).toEqual([size, header, []]);
      };
      await page.goto(inbox);
      await isCrowded(".rail");
      await isCrowded(".list-header");
      await page.goto(`${inbox}#/all/${id}`);
      await isCrowded(".conversation-header");
      const isCut = await page.evaluate<boolean>(
        `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector(".conversation-header h2"))`,
      );
      expect([size, isCut]).toEqual([size, false]);
      await page.goto(`${consoleUrl}#/messages`);
      await isCrowded(".rail");
    }
  },
);

longTest(
  "the forms and handsets of the console are as wide as a phone, also with larger text",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip, { size: { width: 375, height: 812 } });
    await shop.sandbox.inbound({ from: phone, body: "Hello" });
    await page.addInitScript(
      `addEventListener("DOMContentLoaded", () => (document.documentElement.style.fontSize = "200%"))`,
    );
    for (const [path, part] of [
      ["phones", ".handset"],
      ["agents/new", ".editor-end"],
      ["agents/playbooks/new", ".editor-end"],
    ] as const) {
      await page.goto(`${url}#/${path}`);
      await page.locator(part).first().waitFor();
      const wider = await page.evaluate<number>(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector(".main"))`,
      );
      expect([path, wider]).toEqual([path, 0]);
    }
  },
);

/** Where words stand on the screen, from left to right. */
const leftToRight = (page: Page, box: string, words: readonly string[]): Promise<string[]> =>
  page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.querySelector(${JSON.stringify(box)}), 4);
    const found = [];
    while (walker.nextNode()) {
      for (const word of ${JSON.stringify(words)}) {
        const at = walker.currentNode.data.indexOf(word);
        if (at === -1) continue;
        const range = document.createRange();
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, at + word.length);
        found.push({ word, left: range.getBoundingClientRect().left });
      }
    }
    return found.toSorted((a, b) => a.left - b.left).map(({ word }) => word);
  })()`);

longTest("a name in another script does not turn the words around it", async ({ skip }) => {
  const { engine, shop, authorize } = await newShop();
  const name = "محمد الفارسي";
  await shop.contacts.create({ phone, name });
  const { conversation_id: id } = await shop.sandbox.inbound({ from: phone, body: "STOP" });
  const context = await newContext(skip);
  const { url: inbox } = await servePage(inboxHandler(engine, { authorize }));
  const { page } = await newTab(context);
  await page.goto(`${inbox}#/all/${id}`);
  await page.locator(".composer .notice").waitFor();
  const words = [name, "opted out", "cannot be sent"];
  expect(await leftToRight(page, ".composer .notice", words)).toEqual(words);

  const { url: consoleUrl } = await servePage(consoleHandler(engine, { authorize }));
  await page.goto(`${consoleUrl}#/events?type=conversation.created`);
  await page.locator(".event-row").waitFor();
  const parts = [name, "open", "none"];
  expect(await leftToRight(page, ".event-summary", parts)).toEqual(parts);
});

longTest("the form of a playbook begins at its top", async ({ skip }) => {
  const { shop, url, page } = await openConsole(skip, { size: { width: 1280, height: 700 } });
  const steps = ["one", "two", "three"].map((id) => ({ id, type: "send" as const, text: id }));
  const { id } = await shop.playbooks.create({ name: "Greeting", steps });
  await page.goto(`${url}#/agents/playbooks/${id}/edit`);
  await page.locator(".step-body").waitFor();
  const scrolled = (): Promise<number> => page.evaluate("document.querySelector('main').scrollTop");
  expect(await scrolled()).toBe(0);
  // A step that a person opens comes into sight.
  await page.locator(".step-toggle", { hasText: "three" }).press("Enter");
  await expect.poll(scrolled).toBeGreaterThan(0);
});

test("who may not use the phones begins with the overview", async ({ skip }) => {
  const { engine, authorize } = await newShop();
  const { url } = await servePage(
    consoleHandler(engine, {
      authorize: async (request) => {
        const access = await authorize(request);
        return access && { ...access, may: ["messages:read"] };
      },
    }),
  );
  const { page } = await newTab(await newContext(skip));
  await page.goto(url);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
});
