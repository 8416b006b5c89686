/** Pages on paper. */
import { expect } from "vitest";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { longTest } from "../support/runs.ts";
import { newShop, newTab, servePage } from "./shop-pages.ts";

longTest(
  "a conversation and a message are printed as a whole, without what can be pressed",
  async ({ skip }) => {
    const { engine, shop, authorize } = await newShop();
    const written = Array.from({ length: 40 }, (_, i) => `Message ${i}.`);
    let [conversation, message] = ["", ""];
    for (const body of written) {
      const { conversation_id, id } = await shop.sandbox.inbound({ from: "+14155550100", body });
      [conversation, message] = [conversation_id, id];
    }
    const context = await newContext(skip);
    const { page } = await newTab(context, { width: 1200, height: 600 });
    const { url: inbox } = await servePage(inboxHandler(engine, { authorize }));
    await page.goto(`${inbox}#/all/${conversation}`);
    await page.locator(".message", { hasText: "Message 39." }).waitFor();
    await page.emulateMedia({ media: "print" });
    /** Whether the paper is as long as the text: nothing is cut off by a box that scrolls. */
    const isWhole = (box: string): Promise<boolean> =>
      page.evaluate(`(() => {
      const { scrollHeight, clientHeight } = document.querySelector(${JSON.stringify(box)});
      return scrollHeight <= clientHeight && document.documentElement.scrollHeight >= clientHeight;
    })()`);
    expect(await isWhole(".thread")).toBe(true);
    expect(await page.locator(".message:visible").count()).toBe(40);
    expect(await page.locator("button:visible, textarea:visible, .row:visible").count()).toBe(0);

    await page.emulateMedia({ media: "screen" });
    const { url: consoleUrl } = await servePage(consoleHandler(engine, { authorize }));
    await page.goto(`${consoleUrl}#/messages/${message}`);
    await page.locator(".timeline-row").first().waitFor();
    await page.emulateMedia({ media: "print" });
    expect(await isWhole(".main")).toBe(true);
    expect(await page.locator(".rail:visible, .button:visible").count()).toBe(0);
  },
);
