/** What a person sets in the browser or in the page, also while the page is open. */
import { expect } from "vitest";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { inboundText, newShop, newTab, openConsole, openInbox, servePage } from "./shop-pages.ts";
import { widgetSite } from "./widget-site.ts";

longTest("all tabs have the appearance that a person chooses in one of them", async ({ skip }) => {
  const { url, page } = await openInbox(skip);
  const other = await page.context().newPage();
  for (const each of [page, other]) await each.goto(url);
  const background = "getComputedStyle(document.documentElement).backgroundColor";
  const light = await other.evaluate(background);
  await page.getByRole("button", { name: "Appearance" }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect.poll(() => other.evaluate(background)).not.toBe(light);
  expect(await other.evaluate(background)).toBe(await page.evaluate(background));
});

longTest("times are those of the time zone that a person has traveled to", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const { conversation_id: id } = await inboundText(shop);
  const devices = await page.context().newCDPSession(page);
  const travelTo = (timezoneId: string) =>
    devices.send("Emulation.setTimezoneOverride", { timezoneId });
  await travelTo("Europe/Zurich");
  await page.goto(`${url}#/all/${id}`);
  const shown = page.locator(".entry time");
  const there = `new Date(document.querySelector(".entry time").dateTime)
    .toLocaleTimeString(document.documentElement.lang, { hour: "numeric", minute: "2-digit" })`;
  await shown.waitFor();
  expect(await shown.textContent()).toBe(await page.evaluate(there));
  await travelTo("Asia/Kathmandu");
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await expect.poll(() => shown.textContent()).toBe(await page.evaluate(there));
});

longTest(
  "a chart has the times of the time zone that a person has traveled to",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    await shop.messages.send({ to: "+15005550001", body: "Hello" });
    const devices = await page.context().newCDPSession(page);
    await devices.send("Emulation.setTimezoneOverride", { timezoneId: "Europe/Zurich" });
    await page.goto(`${url}#/overview`);
    const drawn = () => page.evaluate("document.querySelector('.chart-box canvas').toDataURL()");
    await page.locator(".chart-box canvas").nth(1).waitFor();
    const there = await drawn();
    await devices.send("Emulation.setTimezoneOverride", { timezoneId: "Asia/Kathmandu" });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await expect.poll(drawn).not.toBe(there);
  },
);

longTest(
  "an empty field is written in the direction of the page, and a text in its own",
  async ({ skip }) => {
    const { engine, shop, authorize } = await newShop();
    const { conversation_id: id } = await inboundText(shop);
    const { url } = await servePage(inboxHandler(engine, { authorize, locale: "ar" }));
    const { page } = await newTab(await newContext(skip));
    await page.goto(`${url}#/all/${id}`);
    const composer = page.locator(".composer-area");
    const direction = () =>
      page.evaluate("getComputedStyle(document.querySelector('.composer-area')).direction");
    await composer.waitFor();
    expect(await direction()).toBe("rtl");
    await composer.fill("Hello");
    expect(await direction()).toBe("ltr");
    await composer.fill("مرحبا");
    expect(await direction()).toBe("rtl");
  },
);

longTest(
  "the labels of a chart are whole, however wide they are in the language of the page",
  async ({ skip }) => {
    const { engine, shop, authorize } = await newShop();
    const { url } = await servePage(consoleHandler(engine, { authorize, locale: "ar" }));
    await shop.messages.send({ to: "+15005550001", body: "Hello" });
    const { page } = await newTab(await newContext(skip));
    await page.goto(`${url}#/overview`);
    await page.locator(".chart-box canvas").nth(1).waitFor();
    // A label that is cut touches the edge.
    const drawn = (width: string): string => `[...document.querySelectorAll(".chart-box canvas")]
    .map((canvas) => canvas.getContext("2d").getImageData(0, 0, ${width}, canvas.height).data)
    .map((pixels) => pixels.some((each) => each !== 0))`;
    await expect.poll(() => page.evaluate(drawn("canvas.width"))).toEqual([true, true]);
    expect(await page.evaluate(drawn("1"))).toEqual([false, false]);
  },
);

longTest(
  "the corner of a bubble is on its author's side, whatever the script of its text",
  async ({ skip }) => {
    const site = await widgetSite(await newContext(skip));
    const tab = await site.openTab();
    await tab.write("مرحبا");
    await eventually(async () => expect(await site.received()).toEqual(["مرحبا"]));
    await site.say("مرحبا بك");
    await tab.shows(["> مرحبا", "مرحبا بك"]);
    const corners = await tab.page.evaluate(
      `[...document.querySelector("tidings-chat").shadowRoot.querySelectorAll("li .bubble")].slice(-2)
      .map((each) => getComputedStyle(each)).map((style) =>
        [parseFloat(style.borderBottomLeftRadius) > parseFloat(style.borderBottomRightRadius), style.direction])`,
    );
    expect(corners).toEqual([
      [true, "ltr"],
      [false, "ltr"],
    ]);
  },
);

longTest(
  "times of the chat are those of the time zone that a visitor has traveled to",
  async ({ skip }) => {
    const context = await newContext(skip);
    const { openTab } = await widgetSite(context);
    const { page, panel, write } = await openTab();
    const devices = await context.newCDPSession(page);
    const travelTo = (timezoneId: string) =>
      devices.send("Emulation.setTimezoneOverride", { timezoneId });
    await travelTo("Europe/Zurich");
    await write("Hello?");
    const shown = panel.locator("time");
    const there = `new Date(document.querySelector("tidings-chat").shadowRoot
    .querySelector("time").dateTime).toLocaleTimeString("en", { hour: "numeric", minute: "2-digit" })`;
    await shown.waitFor();
    expect(await shown.textContent()).toBe(await page.evaluate(there));
    await travelTo("Asia/Kathmandu");
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await expect.poll(() => shown.textContent()).toBe(await page.evaluate(there));
  },
);
