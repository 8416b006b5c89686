/** Everything that can be written into a chat, from both sides. */
import { expect } from "vitest";
import { newContext } from "../support/browser/chromium.ts";
import { longTest } from "../support/runs.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { widgetSite } from "./widget-site.ts";

/** As long as a message may be. */
const texts = hostileTexts
  .map((text) => Array.from(text).slice(0, 1_600).join(""))
  .filter((text) => text.trim() !== "");

const root = `document.querySelector("tidings-chat").shadowRoot`;
const bubbles = `[...${root}.querySelectorAll("li .bubble")].map((each) => each.textContent)`;

/** What no text may become. */
const active = `[...${root}.querySelectorAll("*")].flatMap((each) => [
  ...(each.matches("iframe, object, embed, base, img, video, audio, math, form[action], script")
    ? [each.outerHTML.slice(0, 200)] : []),
  ...each.getAttributeNames().filter((name) => name.startsWith("on")),
  ...(each.localName === "a" && !/^https?:$/.test(each.protocol) ? [each.href] : []),
])`;

longTest(
  "no text runs or becomes markup in the chat, or makes it wider than a small screen",
  async ({ skip }) => {
    expect(texts.length).toBeGreaterThan(200);
    const site = await widgetSite(await newContext(skip));
    const tab = await site.openTab();
    await tab.page.setViewportSize({ width: 320, height: 640 });
    const dialogs: string[] = [];
    tab.page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    // What a visitor types is sent without the spaces around it.
    const own = texts.filter((_, i) => i % 40 === 0).map((text) => text.slice(0, 500).trim());
    for (const text of own) await tab.write(text);
    await expect.poll(async () => (await site.received()).length).toBe(own.length);
    expect(await site.received()).toEqual(own);
    for (const text of texts) await site.say(text);
    await tab.panel.locator(".bubble").nth(own.length).waitFor();
    await expect
      .poll(async () => (await tab.page.evaluate<string[]>(bubbles)).slice(-texts.length))
      .toEqual(texts);
    expect(await tab.page.evaluate(active)).toEqual([]);
    expect(await tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    const list = `${root}.querySelector("ol, ul").parentElement`;
    expect(await tab.page.evaluate(`${list}.scrollWidth - ${list}.clientWidth`)).toBe(0);
    expect(dialogs).toEqual([]);
    // So many messages at once are more than the server lets a visitor mark as read.
    expect(tab.complaints.filter((text) => !text.includes("status of 429"))).toEqual([]);
  },
);
