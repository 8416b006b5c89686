/** What the chat counts as unread and reports as read, and whose chat it is in each tab. */
import { expect, test } from "vitest";
import { newContext } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { freezable, thaw, widgetSite, type WidgetSite } from "./widget-site.ts";

/** The statuses of the messages to the visitor, each once. */
async function statuses({ engine }: WidgetSite): Promise<readonly string[]> {
  const { data } = await engine.messages.list({ direction: "outbound", limit: 100 });
  return [...new Set(data.map(({ status }) => status))];
}

test("a visitor who opens a chat with many new messages has read all of them", async ({ skip }) => {
  const site = await widgetSite(await newContext(skip));
  const tab = await site.openTab();
  await tab.write("Hello");
  await tab.panel.getByText("Sent").waitFor();
  await tab.page.keyboard.press("Escape");
  await tab.panel.waitFor({ state: "detached" });
  // More than a visitor may make requests in a second.
  for (let i = 0; i < 45; i++) await site.say(`News ${i}`);
  await tab.launcher.getByText("9+").waitFor();
  await eventually(async () => expect(await statuses(site)).toEqual(["delivered"]));
  await tab.launcher.click();
  await eventually(async () => expect(await statuses(site)).toEqual(["read"]));
});

longTest(
  "a message that was scheduled before others were read counts as unread when it comes",
  async ({ skip }) => {
    const site = await widgetSite(await newContext(skip));
    const [one, two] = [await site.openTab(), await site.openTab()];
    await one.write("Hello");
    await one.panel.getByText("Sent").waitFor();
    const [contact] = (await site.engine.contacts.list()).data;
    const { id } = await site.engine.messages.send({
      to: contact?.id ?? "",
      channel: "webchat",
      body: "See you at nine",
      send_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    await site.say("I will remind you");
    await one.panel.getByText("I will remind you").waitFor();
    await two.launcher.click();
    await two.panel.getByText("I will remind you").waitFor();
    for (const { page, panel } of [one, two]) {
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "detached" });
    }
    await site.engine.messages.edit(id, { send_at: new Date().toISOString() });
    for (const { page } of [one, two]) {
      await page.getByRole("button", { name: "Open the chat. Unread messages: 1" }).waitFor();
    }
    await one.page.reload();
    await one.page.getByRole("button", { name: /Unread messages: 1$/ }).waitFor();
    await two.launcher.click();
    await two.panel.getByText("See you at nine").waitFor();
    await one.page.getByRole("button", { name: "Open the chat", exact: true }).waitFor();
    await eventually(async () => expect(await statuses(site)).toEqual(["read"]));
  },
);

longTest(
  "a tab that cannot load what it missed says so, and that it tries again",
  async ({ skip }) => {
    const context = await newContext(skip);
    await context.addInitScript(freezable);
    const site = await widgetSite(context);
    const one = await site.openTab();
    await one.write("Hello");
    await one.panel.getByText("Sent").waitFor();
    const two = await site.openTab();
    await two.launcher.click();
    await two.shows(["> Hello"]);
    let status = 503;
    await two.page.route(/\/messages\?/, (route) => route.fulfill({ status, json: {} }));
    await two.page.evaluate("window.isFrozen = true");
    await site.say("Missed");
    await one.panel.getByText("Missed").waitFor();
    await two.page.evaluate(thaw);
    await two.panel.getByText("No connection").waitFor();
    status = 403;
    await two.panel.getByText("The chat is not available").waitFor();
    await two.page.unrouteAll({ behavior: "ignoreErrors" });
    await two.panel.getByRole("button", { name: "Try again" }).click();
    await two.shows(["> Hello", "Missed"]);
    expect(await two.panel.locator(".banner").count()).toBe(0);
  },
);

longTest(
  "a tab of a visitor stays in its chat when another one signs in, and leaves theirs alone",
  async ({ skip }) => {
    const context = await newContext(skip);
    const site = await widgetSite(context);
    let visitor = "ann";
    await context.route(/localhost:\d+\/$/, async (route) => {
      const response = await route.fetch();
      const html = await response.text();
      await route.fulfill({
        response,
        body: html.replace("data-session-url", `data-visitor="${visitor}" data-session-url`),
      });
    });
    let sessions = 0;
    context.on("request", (request) => {
      if (request.url().endsWith("/chat/session")) sessions += 1;
    });
    const ann = await site.openTab();
    await ann.write("I am Ann");
    await ann.panel.getByText("Sent").waitFor();
    await context.clearCookies();
    visitor = "bob";
    const bob = await site.openTab();
    await bob.write("I am Bob");
    await bob.panel.getByText("Sent").waitFor();
    await ann.write("Still Ann");
    await ann.panel.getByText("Sent").waitFor();
    await ann.shows(["> I am Ann", "> Still Ann"]);
    await bob.write("Still Bob");
    await bob.panel.getByText("Sent").waitFor();
    await bob.page.reload();
    await bob.launcher.click();
    await bob.shows(["> I am Bob", "> Still Bob"]);
    expect(sessions).toBe(2);
  },
);

longTest(
  "what a visitor has read stays read in a page for which the browser stores nothing",
  async ({ skip }) => {
    const context = await newContext(skip);
    // As browsers do for a website whose cookies and data a person has blocked.
    await context.addInitScript(`
      const refusal = () => new DOMException("Refused", "SecurityError");
      for (const name of ["localStorage", "sessionStorage"]) {
        Object.defineProperty(window, name, { get: () => { throw refusal(); } });
      }
      navigator.locks.request = () => Promise.reject(refusal());
      window.BroadcastChannel = class { constructor() { throw refusal(); } };
    `);
    const site = await widgetSite(context);
    const { page, launcher, panel, write, shows } = await site.openTab();
    await write("Hello");
    await panel.getByText("Sent").waitFor();
    const close = async () => {
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "detached" });
    };
    await close();
    await site.say("News");
    const named = (name: string) => page.getByRole("button", { name, exact: true });
    await named("Open the chat. Unread messages: 1").waitFor();
    await launcher.click();
    await shows(["> Hello", "News"]);
    await close();
    await named("Open the chat").waitFor();
  },
);

longTest("a page that closes the panel leaves the focus where the visitor is", async ({ skip }) => {
  const site = await widgetSite(await newContext(skip));
  const { page, launcher, panel } = await site.openTab();
  await launcher.click();
  await panel.waitFor();
  await page.evaluate(`document.querySelector("main").append(
      Object.assign(document.createElement("input"), { id: "search" }))`);
  await page.locator("#search").fill("Boo");
  await page.evaluate("window.tidings.close()");
  await panel.waitFor({ state: "detached" });
  await page.keyboard.type("ts");
  expect(await page.locator("#search").inputValue()).toBe("Boots");
});
