/** The chat widget in a real browser, under a strict policy. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { newContext } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { longTest, runs } from "../support/runs.ts";
import { anna, widgetSite, type Tab } from "./widget-site.ts";
import { drawRandomTrees, loadView } from "./widget-view.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Texts that would do harm as markup or as an address, or that break careless code. */
const hostile = [
  "<img src=x onerror=\"console.error('ran')\">",
  "<script>console.error('ran')</script>",
  "javascript:console.error('ran')",
  "https://shop.example/<b>\"onclick=\"console.error('ran')",
  "data:text/html,<script>console.error('ran')</script>",
  "https://user:secret@shop.example/",
  "${7*7} {{7*7}} {count} %s",
  "\u202Eevil\u202C \u2066left\u2069 \u200Bnothing",
  "a\u0301\u0302\u0303\u0304\u0305".repeat(200),
  "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}".repeat(20),
  "x".repeat(1_600),
  "__proto__",
];

async function violations({ page }: Tab): Promise<unknown> {
  await page.evaluate(`${axe}; undefined`);
  return page.evaluate(
    `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] })
      .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => id + " " + target + " " + failureSummary)))`,
  );
}

test("a chat survives a lost line, a lost answer, a reload and a second tab, each message once and in order", async ({
  skip,
}) => {
  const site = await widgetSite(await newContext(skip));
  const [one, two] = [await site.openTab(), await site.openTab()];
  // Who only looks costs the host nothing.
  await two.launcher.click();
  expect((await site.engine.contacts.list()).data).toEqual([]);
  await two.page.keyboard.press("Escape");

  await one.write("Hello");
  await one.panel.getByText("Sent").waitFor();
  await site.reply("Hi! I am Anna.");
  await one.shows(["> Hello", "Hi! I am Anna."]);
  await one.panel.locator(".author", { hasText: "Support" }).waitFor();

  site.unplug();
  await one.write("Written offline");
  await one.panel.getByText("Waiting for a connection").waitFor();
  await site.say("Sent while you were away");
  await one.write("And one more");
  site.plugIn();
  const all = [
    "> Hello",
    "Hi! I am Anna.",
    "Sent while you were away",
    "> Written offline",
    "> And one more",
  ];
  await one.shows(all);

  // The server stores the message, but its answer is lost.
  await one.page.route("**/messages", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await one.write("Is it sent?");
  await eventually(async () => expect(await site.received()).toContain("Is it sent?"));
  await one.field.fill("Not sent yet");
  await one.page.unrouteAll({ behavior: "ignoreErrors" });
  await one.page.reload();
  await one.launcher.click();
  all.push("> Is it sent?");
  await one.shows(all);
  expect(await one.field.inputValue()).toBe("Not sent yet");

  await two.launcher.click();
  await two.shows(all);
  await two.write("From the second tab");
  await eventually(async () => expect(await site.received()).toContain("From the second tab"));
  await site.say("To both");
  all.push("> From the second tab", "To both");
  for (const tab of [one, two]) await tab.shows(all);
  // The tab that reads the stream for both is closed.
  await one.page.close();
  await site.say("To the other");
  await two.shows([...all, "To the other"]);
  expect(await site.received()).toEqual([
    "Hello",
    "Written offline",
    "And one more",
    "Is it sent?",
    "From the second tab",
  ]);
  expect([...one.complaints, ...two.complaints]).toEqual([]);
});

longTest(
  "a tab misses nothing that another passes on while it loads, or while it cannot load",
  async ({ skip }) => {
    const context = await newContext(skip);
    const site = await widgetSite(context);
    const one = await site.openTab();
    await one.write("Hello");
    await one.panel.getByText("Sent").waitFor();

    const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await context.route(/\/messages\?/, async (route) => {
      const response = await route.fetch();
      asked.resolve();
      await released.promise;
      await route.fulfill({ response });
    });
    const two = await site.openTab();
    await two.launcher.click();
    await asked.promise;
    await one.write("Sent meanwhile");
    await eventually(async () => expect(await site.received()).toContain("Sent meanwhile"));
    released.resolve();
    await two.shows(["> Hello", "> Sent meanwhile"]);

    await context.unroute(/\/messages\?/);
    const aborted = Promise.withResolvers<void>();
    await context.route(/\/messages\?/, async (route) => {
      await route.abort();
      aborted.resolve();
    });
    const [contact] = (await site.engine.contacts.list()).data;
    const phone = await site.engine.webchat.open({ contact_id: contact?.id });
    await site.engine.webchat.sendAsVisitor(phone.id, { body: "From my phone" });
    // As from a tab that has read on.
    const passed = { id: "msg_0", direction: "inbound", body: "Far ahead", media: [] };
    const at = { created_at: "2100", placed_at: "2100" };
    const message = { ...passed, ...at, author: "contact", author_name: null };
    await one.page.evaluate(`new BroadcastChannel(
    "tidings-chat:" + new URL("/chat/session", location.href) + ":"
  ).postMessage(${JSON.stringify({ kind: "arrival", number: 9, message })})`);
    await aborted.promise;
    await site.say("And on");
    await two.panel.getByText("And on").waitFor();
    await context.unroute(/\/messages\?/);
    await two.shows(["> Hello", "> Sent meanwhile", "> From my phone", "And on", "> Far ahead"]);
    expect([...one.complaints, ...two.complaints]).toEqual([]);
  },
);

longTest(
  "Enter that chooses a character while it is composed does not send the text",
  async ({ skip }) => {
    const site = await widgetSite(await newContext(skip));
    const tab = await site.openTab();
    await tab.launcher.click();
    await tab.field.fill("こんにちは");
    // Chromium and Firefox tell of the composition. In Safari it is over, and the code tells.
    for (const sign of ["isComposing: true", "keyCode: 229"]) {
      await tab.page.evaluate(`document.activeElement.shadowRoot.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", ${sign}, bubbles: true, cancelable: true }))`);
    }
    expect(await tab.field.inputValue()).toBe("こんにちは");
    await tab.field.press("Enter");
    await tab.shows(["> こんにちは"]);
  },
);

test("unread messages are counted until the panel shows them, and then marked as read", async ({
  skip,
}) => {
  const site = await widgetSite(await newContext(skip));
  const tab = await site.openTab();
  await tab.page.evaluate(`window.heard = [];
    for (const type of ["open", "close", "message", "unread"])
      window.tidings.on(type, (event) => window.heard.push([type, event?.body ?? event ?? null]))`);
  await tab.write("Hello");
  await tab.panel.getByText("Sent").waitFor();
  await tab.page.keyboard.press("Escape");
  await tab.panel.waitFor({ state: "detached" });
  const focused = `document.activeElement.shadowRoot?.activeElement?.className`;
  expect(await tab.page.evaluate(focused)).toBe("launcher");
  await site.say("One");
  await site.say("Two");
  await tab.page.getByRole("button", { name: "Open the chat. Unread messages: 2" }).waitFor();
  const statuses = async (): Promise<readonly string[]> =>
    (await site.engine.messages.list({ direction: "outbound" })).data.map(({ status }) => status);
  await eventually(async () => expect(await statuses()).toEqual(["delivered", "delivered"]));
  await tab.page.evaluate(`window.tidings.open()`);
  await tab.page.getByRole("button", { name: "Close the chat" }).first().waitFor();
  await eventually(async () => expect(await statuses()).toEqual(["read", "read"]));
  await tab.page.evaluate(`window.tidings.close()`);
  await tab.page.getByRole("button", { name: "Open the chat", exact: true }).waitFor();
  expect(await tab.page.evaluate(`window.heard`)).toEqual([
    ["open", null],
    ["close", null],
    ["message", "One"],
    ["unread", 1],
    ["message", "Two"],
    ["unread", 2],
    ["open", null],
    ["unread", 0],
    ["close", null],
  ]);
});

longTest(
  "a message that is read after the session ended is marked as read in the next session",
  async ({ skip }) => {
    const site = await widgetSite(await newContext(skip));
    const statuses = async (): Promise<readonly string[]> =>
      (await site.engine.messages.list({ direction: "outbound" })).data.map(({ status }) => status);
    const tab = await site.openTab();
    await tab.write("Hello");
    await tab.panel.getByText("Sent").waitFor();
    await tab.page.keyboard.press("Escape");
    await tab.panel.waitFor({ state: "detached" });
    await site.say("Your shoes are here.");
    await eventually(async () => expect(await statuses()).toEqual(["delivered"]));
    await tab.page.evaluate(`{
    const name = Object.keys(localStorage).find((each) => each.endsWith(":session"));
    const session = JSON.parse(localStorage.getItem(name));
    localStorage.setItem(name, JSON.stringify({ ...session, token: "ended" }));
  }`);
    await tab.launcher.click();
    await eventually(async () => expect(await statuses()).toEqual(["read"]));
  },
);

longTest("the focus stays in the panel when the button that had it goes", async ({ skip }) => {
  const site = await widgetSite(await newContext(skip));
  const tab = await site.openTab();
  const focused = () =>
    tab.page.evaluate(`document.activeElement.shadowRoot?.activeElement?.className`);
  const press = async (selector: string) => {
    const button = tab.panel.locator(selector);
    await button.press("Enter");
    await button.waitFor({ state: "detached" });
  };
  await tab.page.route("**/chat/session", (route) => route.fulfill({ status: 403, json: {} }));
  await tab.write("Hello");
  await tab.panel.locator(".banner .link").waitFor();
  await tab.page.unrouteAll();
  await press(".banner .link");
  expect(await focused()).toBe("list");
  await press(".pending .link >> nth=1");
  expect(await focused()).toBe("list");

  await tab.write("Hello again");
  await tab.panel.getByText("Sent").waitFor();
  for (let i = 0; i < 25; i++) await site.say(`Before ${i}`);
  await tab.panel.getByText("Before 24").waitFor();
  await tab.panel.locator(".list").press("Home");
  const scrolled = `document.querySelector("tidings-chat").shadowRoot.querySelector(".list").scrollTop`;
  await eventually(async () => expect(await tab.page.evaluate(scrolled)).toBe(0));
  await site.say("After");
  await press(".newest");
  expect(await focused()).toBe("list");
});

longTest(
  "a visitor at the top sees a page of newer messages replace what was shown, and then those before it",
  async ({ skip }) => {
    const site = await widgetSite(await newContext(skip));
    const tab = await site.openTab();
    await tab.write("Hello");
    await tab.panel.getByText("Sent").waitFor();
    const before = Array.from({ length: 25 }, (_, i) => `Before ${i}`);
    for (const body of before) await site.say(body);
    await tab.shows(["> Hello", ...before]);
    const list = `document.querySelector("tidings-chat").shadowRoot.querySelector(".list")`;
    const toTop = `new Promise((resolve) => {
    ${list}.addEventListener("scroll", () => resolve(${list}.scrollTop), { once: true });
    ${list}.scrollTop = 0;
  })`;
    // A state that arrives in between scrolls the list to its end once more.
    while ((await tab.page.evaluate(toTop)) !== 0);
    // The visitor leaves the page, and comes back to it.
    await tab.page.evaluate(`dispatchEvent(new PageTransitionEvent("pagehide"))`);
    const missed = Array.from({ length: 31 }, (_, i) => `Missed ${i} ${"and more ".repeat(40)}.`);
    for (const body of missed) await site.say(body);
    await eventually(async () => {
      const { data } = await site.engine.messages.list({ direction: "outbound", limit: 100 });
      expect(data.some(({ status }) => status === "queued" || status === "sending")).toBe(false);
    });
    await tab.page.evaluate(
      `dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`,
    );
    // The visitor cannot scroll up from the top. The page stays where it was.
    await tab.shows(["> Hello", ...before, ...missed]);
    const below = await tab.page.evaluate<number>(`(() => {
    const first = [...${list}.querySelectorAll("li")].find((li) => /Missed 1 /.test(li.textContent));
    return first.getBoundingClientRect().top - ${list}.getBoundingClientRect().top;
  })()`);
    expect([below >= 0, below < 100], `${below} px below the top`).toEqual([true, true]);
  },
);

test("texts of strangers stay text, and axe finds nothing in either scheme", async ({ skip }) => {
  const site = await widgetSite(await newContext(skip));
  const tab = await site.openTab();
  expect(await violations(tab)).toEqual([]);
  await tab.write(hostile[0] ?? "");
  await tab.panel.getByText("Sent").waitFor();
  await site.reply("<b>Hello</b>");
  await tab.shows([`> ${hostile[0]}`, "<b>Hello</b>"]);
  for (const [colorScheme, width] of [
    ["light", 320],
    ["dark", 1_440],
  ] as const) {
    await tab.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await tab.page.setViewportSize({ width, height: 640 });
    expect([colorScheme, width, await violations(tab)]).toEqual([colorScheme, width, []]);
    const overflow = `document.documentElement.scrollWidth - innerWidth`;
    expect(await tab.page.evaluate(overflow)).toBe(0);
  }
  for (const body of hostile) await site.say(body);
  await site.engine.messages.send({
    to: (await site.engine.contacts.list()).data[0]?.id ?? "",
    channel: "webchat",
    body: "",
    media: [{ url: "https://shop.example/%3Cb%3E.pdf", content_type: "application/pdf" }],
  });
  await tab.shows([`> ${hostile[0]}`, "<b>Hello</b>", ...hostile, "<b>.pdf"]);
  const links = `[...document.querySelector("tidings-chat").shadowRoot.querySelectorAll("a")]
    .map(({ href, rel, target }) => [href, rel, target])`;
  expect(await tab.page.evaluate(links)).toEqual(
    ["https://shop.example/", "https://shop.example/%3Cb%3E.pdf"].map((href) => [
      href,
      "noopener noreferrer nofollow ugc",
      "_blank",
    ]),
  );
  // Texts that wrap anew leave the latest message in sight.
  const below = `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(
    document.querySelector("tidings-chat").shadowRoot.querySelector(".list"))`;
  const drawn = `new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(null))))`;
  for (const width of [320, 1_440, 320]) {
    await tab.page.setViewportSize({ width, height: 640 });
    // A width that is never drawn cannot be observed.
    await tab.page.evaluate(drawn);
    await expect.poll(() => tab.page.evaluate(below)).toBeLessThan(2);
  }
  // The focus stays in the panel, which covers a small screen.
  const inside = `document.activeElement.shadowRoot?.activeElement?.closest(".panel") !== null`;
  const rings = `[...document.querySelector("tidings-chat").shadowRoot.querySelectorAll("*")]
    .filter((each) => getComputedStyle(each).outlineStyle !== "none").length`;
  for (let i = 0; i < 8; i++) {
    await tab.page.keyboard.press("Tab");
    expect(await tab.page.evaluate(inside)).toBe(true);
    expect(await tab.page.evaluate(rings)).toBe(1);
  }
  site.unplug();
  await tab.write("Later");
  await tab.panel.getByText("Waiting for a connection").waitFor();
  expect(await violations(tab)).toEqual([]);
  expect(tab.complaints.filter((text) => !text.includes("ran"))).toEqual([]);
  expect(tab.complaints.join()).not.toContain("ran");
});

test("a visitor and a person see each other type, and the visitor sees what was read and by whom", async ({
  skip,
}) => {
  const site = await widgetSite(await newContext(skip));
  await site.engine.operators.save(anna.id, { name: anna.name });
  const visitor = await site.openTab();
  const other = await site.openTab();
  await visitor.write("Hello");
  await visitor.panel.getByText("Sent").waitFor();

  // The tabs of a website share a stream.
  await other.launcher.click();
  await other.shows(["> Hello"]);

  const desk = await site.openInbox();
  await desk.getByRole("link", { name: /Hello/ }).click();
  const composer = desk.getByRole("textbox", { name: /^Reply to Visitor [0-9A-Z]{4}$/ });
  await composer.waitFor();
  // Whoever opens a conversation reads it.
  for (const { panel } of [visitor, other]) await panel.getByText("Read").waitFor();

  // Nobody has the conversation, until it is handed off to people and one of them answers.
  const subtitle = visitor.panel.locator(".head p");
  expect(await subtitle.textContent()).toBe("Ask us anything");
  const [waiting] = (await site.engine.conversations.list()).data;
  await site.engine.conversations.handOff(waiting?.id ?? "", { reason: "A question" });
  await subtitle.getByText("A person will answer you").waitFor();

  await visitor.field.fill("How much is");
  const visitorTypes = desk.getByText(/ is typing$/);
  await visitorTypes.waitFor();
  await composer.fill("Hi");
  const personTypes = [visitor, other].map(({ panel }) => panel.getByText("Anna Berg is typing"));
  for (const each of personTypes) await each.waitFor();
  await composer.press("Control+Enter");
  await visitor.shows(["> Hello", "Hi"]);
  for (const each of personTypes) await each.waitFor({ state: "detached" });
  await subtitle.getByText(anna.name).waitFor();
  expect(await visitor.panel.locator(".author").allTextContents()).toEqual([anna.name]);

  await visitor.field.press("Enter");
  await desk.getByRole("log").getByText("How much is").waitFor();
  await visitorTypes.waitFor({ state: "detached" });
  expect([...visitor.complaints, ...other.complaints]).toEqual([]);
});

test("a drawing over another is the same as a new one, and keeps elements and their focus", async ({
  skip,
}) => {
  const context = await newContext(skip);
  const page = await context.newPage();
  await page.evaluate(loadView());
  expect(await page.evaluate(`(${drawRandomTrees})(${runs(300)})`)).toEqual({
    faults: [],
    shown: ["TYPED", true, "<textarea></textarea><u></u><i></i>"],
  });
  await page.close();
});
