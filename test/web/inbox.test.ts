/** The inbox in a real browser, over a real engine. */
import type { Page, Route } from "playwright-core";
import { expect, onTestFinished, test, type TestContext } from "vitest";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { isLong, longTest } from "../support/runs.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { accessibilityFaults, inboundText, kim, newShop, newTab, servePage } from "./shop-pages.ts";

/** The inbox of a new account, and an empty tab for it. */
async function inbox(skip: TestContext["skip"], size?: { width: number; height: number }) {
  const { engine, shop, authorize } = await newShop();
  const avatarOrigins = [new URL(kim.avatar_url).origin];
  const server = await servePage(inboxHandler(engine, { authorize, avatarOrigins }));
  const context = await newContext(skip);
  const tab = await newTab(context, size);
  // The tests reach no other host.
  await tab.page.route(kim.avatar_url, (route) => route.fulfill({ body: picture }));
  return { shop, server, context, ...tab };
}

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Holds the stream of events back until the returned function is called. */
async function holdStream(page: Page): Promise<() => void> {
  const { promise: followed, resolve } = Promise.withResolvers<void>();
  await page.route(/\/events\/stream/, async (route) => {
    await followed;
    await route.continue();
  });
  return resolve;
}

const row = (page: Page, name: string) => page.locator(".row", { hasText: name });

test("a message that was not sent survives a reload, and is sent once when it is tried again", async ({
  skip,
}) => {
  const { shop, server, page } = await inbox(skip);
  const { conversation_id } = await inboundText(shop);
  server.refuse(/\/messages$/);
  await page.goto(`${server.url}#/all/${conversation_id}`);
  const composer = page.locator(".composer-area");
  await composer.fill("We are here.");
  await composer.press("Control+Enter");
  await page.getByText("The engine is stopping.").waitFor();
  await composer.fill("And a draft");
  await page.reload();
  await page.locator(".message[data-status=failed]", { hasText: "We are here." }).waitFor();
  expect(await composer.inputValue()).toBe("And a draft");

  server.refuse(undefined);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".message.is-out[data-status=delivered]").waitFor();
  const sent = (await shop.conversations.messages(conversation_id)).data;
  expect(sent.filter(({ direction }) => direction === "outbound").map(({ body }) => body)).toEqual([
    "We are here.",
  ]);
});

test("a person answers, labels, assigns, snoozes and closes with the keyboard alone", async ({
  skip,
}) => {
  const { shop, server, page } = await inbox(skip);
  const { conversation_id: id } = await inboundText(shop);
  await page.goto(server.url);
  await page.locator(".row").waitFor();
  const type = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const shown = () => shop.conversations.get(id);
  await type("j");
  await page.locator(".message").waitFor();
  await type("r");
  await page.keyboard.type("Yes?");
  await type("Control+Enter", "Escape");
  await page.locator(".message.is-out").waitFor();
  await type("n");
  await page.keyboard.type("Called back");
  await type("Control+Enter", "Escape");
  await page.locator(".note", { hasText: "Called back" }).waitFor();
  await type("l");
  await page.keyboard.type("vip");
  await type("Enter", "Escape");
  await expect.poll(async () => (await shown()).labels).toEqual(["vip"]);
  await type("a", "ArrowDown", "Enter");
  await expect.poll(async () => (await shown()).assignee).toBeNull();
  await type("a", "ArrowDown", "ArrowDown", "Enter");
  await page.getByText("Assigned to Lee Okafor").waitFor();
  await type("a", "Enter");
  await page.getByText("Assigned to you", { exact: true }).waitFor();
  await expect.poll(async () => (await shown()).assignee).toEqual({ type: "human", id: "kim" });
  await type("s", "Enter");
  await expect.poll(async () => (await shown()).status).toBe("snoozed");
  await type("e");
  await expect.poll(async () => (await shown()).status).toBe("closed");
  await type("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  if (isLong) expect(await accessibilityFaults(page)).toEqual([]);
});

longTest("everything is reachable on 320 px, whatever strangers write", async ({ skip }) => {
  const { shop, server, page, faults } = await inbox(skip, { width: 320, height: 640 });
  await page.emulateMedia({ colorScheme: "dark" });
  const phone = "+14155550100";
  const longest = hostileTexts
    .filter((text) => text.length > 200)
    .map((text) => text.slice(0, 1600));
  const [name = "", note = ""] = longest.map((text) => Array.from(text).slice(0, 200).join(""));
  await shop.contacts.create({ phone, name, attributes: { hostile: note } });
  const { conversation_id: id } = await shop.sandbox.inbound({ from: phone, body: name });
  await shop.conversations.setLabels(id, [name.slice(0, 64)]);
  await shop.conversations.addNote(id, { body: note });
  for (const body of longest) await shop.sandbox.inbound({ from: phone, body });

  await page.goto(server.url);
  await page.locator(".row").click();
  await page.locator(".message").nth(longest.length).waitFor();
  const overflow = "document.documentElement.scrollWidth > innerWidth";
  expect(await page.evaluate(overflow)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);

  await page.getByRole("button", { name: "Contact panel" }).click();
  await page.getByRole("complementary", { name: "Contact" }).getByText(note).waitFor();
  expect(await page.evaluate(overflow)).toBe(false);
  await page.getByRole("button", { name: "Hide the contact" }).click();
  await page.getByRole("link", { name: "Back to the list" }).click();
  await page.locator(".row").waitFor();
  expect(await page.evaluate(overflow)).toBe(false);
  expect(await accessibilityFaults(page)).toEqual([]);
  expect(faults).toEqual([]);
});

longTest(
  "tabs share one stream, which goes on in another tab when its tab is closed",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    await page.goto(server.url);
    await expect.poll(() => server.streams()).toBe(1);
    const second = await page.context().newPage();
    onTestFinished(() => second.close());
    await second.goto(server.url);
    const write = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
    await write("one");
    await second.locator(".row", { hasText: "one" }).waitFor();
    await page.locator(".row", { hasText: "one" }).waitFor();
    expect(server.streams()).toBe(1);

    await page.goto("about:blank");
    await write("two");
    await second.locator(".row", { hasText: "two" }).waitFor();
    await expect.poll(() => server.streams()).toBe(1);
    await write("three");
    await second.locator(".row", { hasText: "three" }).waitFor();
  },
);

test("two people see at once what the other does to a conversation, and keep what they typed", async ({
  skip,
}) => {
  const { shop, server, context, page, faults } = await inbox(skip);
  const other = await newTab(context);
  const { conversation_id: id } = await inboundText(shop);
  await page.goto(`${server.url}#/all/${id}`);
  await other.page.goto(`${server.other}#/all/${id}`);
  // Pictures of other origins than those in the option are not asked for.
  await page.locator(".rail-operator img").waitFor();
  expect(await other.page.locator(".rail-operator img").count()).toBe(0);
  const kims = page.locator(".composer-area");
  const lees = other.page.locator(".composer-area");
  await kims.fill("Kim's draft");
  await lees.fill("Lee's draft");

  await page.locator(".conversation-header h2").click();
  await page.keyboard.press("a");
  await page.keyboard.press("Enter");
  await other.page.getByText("Kim Larsen took this conversation.").waitFor();
  await other.page.locator(".conversation-sub", { hasText: "Kim Larsen" }).waitFor();
  await lees.press("Control+Enter");
  await page.locator(".message.is-out", { hasText: "Lee's draft" }).waitFor();
  expect(await kims.inputValue()).toBe("Kim's draft");

  await lees.fill("Lee's second draft");
  await page.getByRole("button", { name: "Close", exact: true }).first().click();
  await other.page.getByRole("button", { name: "Reopen" }).waitFor();
  expect(await lees.inputValue()).toBe("Lee's second draft");
  await lees.press("Control+Enter");
  await other.page.locator(".message.is-out", { hasText: "Lee's second draft" }).waitFor();
  await expect.poll(async () => (await shop.conversations.get(id)).status).toBe("open");
  const { data } = await shop.conversations.messages(id);
  const sent = data.filter(({ direction }) => direction === "outbound");
  expect(Object.fromEntries(sent.map(({ body, author }) => [body, author.id]))).toEqual({
    "Lee's draft": "lee",
    "Lee's second draft": "lee",
  });
  expect([...faults, ...other.faults]).toEqual([]);
});

longTest(
  "the open conversation joins no view that it does not belong to, and leaves none while it is open",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    const write = async (from: string, body: string): Promise<string> =>
      (await shop.sandbox.inbound({ from, body })).conversation_id;
    const [ann, bob] = ["+14155550100", "+14155550101"];
    const hers = await write(ann, "I am Ann");
    const his = await write(bob, "I am Bob");
    await shop.conversations.assign(hers, { type: "human", id: "kim" });
    await page.goto(`${server.url}#/all/${his}`);
    const row = (hasText: string) => page.locator(".row", { hasText });
    await row("I am Bob").waitFor();
    await page.evaluate(`location.hash = "#/mine/${his}"`);
    await page.locator(".list-title", { hasText: "Mine" }).waitFor();
    await row("I am Bob").waitFor({ state: "detached" });
    await write(bob, "Still here");
    await page.locator(".message", { hasText: "Still here" }).waitFor();
    // What comes later is placed later.
    await write(ann, "Still here, too");
    await row("Still here, too").waitFor();
    expect(await page.locator(".row").count()).toBe(1);

    await page.evaluate(`location.hash = "#/mine/${hers}"`);
    await page.locator(".message", { hasText: "I am Ann" }).waitFor();
    await shop.conversations.assign(hers, { type: "human", id: "lee" });
    await page.locator(".conversation-sub", { hasText: "Lee" }).waitFor();
    await write(bob, "Mine?");
    await shop.conversations.assign(his, { type: "human", id: "kim" });
    await row("Mine?").waitFor();
    expect(await row("Still here, too").count()).toBe(1);
  },
);

longTest(
  "an answer that comes late does not bring back what events have changed since",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    const write = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
    const { conversation_id: id } = await write("Hello?");
    const answers = {
      read: Promise.withResolvers<void>(),
      messages: Promise.withResolvers<void>(),
    };
    for (const [path, { promise }] of Object.entries(answers)) {
      const hold = async (route: Route): Promise<void> => {
        const response = await route.fetch();
        await promise;
        await route.fulfill({ response });
      };
      await page.route(`**/${path}`, hold, { times: 1 });
    }
    const requested = page.waitForRequest("**/read");
    await page.goto(`${server.url}#/all/${id}`);
    await requested;
    await eventually(async () => expect((await shop.conversations.get(id)).unread_count).toBe(0));
    await write("Are you open?");
    await page.locator(".message.is-in", { hasText: "Are you open?" }).waitFor();
    answers.read.resolve();
    await eventually(async () => expect((await shop.conversations.get(id)).unread_count).toBe(0));

    await page.locator(".composer-area").fill("Until six.");
    await page.locator(".composer-area").press("Control+Enter");
    await page.locator(".message.is-out[data-status=delivered]").waitFor();
    const answered = page.waitForResponse("**/messages");
    answers.messages.resolve();
    await answered;
    const sent = page.locator(".message.is-out");
    await expect.poll(() => sent.count()).toBe(1);
    expect(await sent.getAttribute("data-status")).toBe("delivered");
  },
);

longTest(
  "a conversation that changes while the list is loaded is in the list once",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    const write = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
    const { conversation_id: id } = await write("Hello?");
    const held = Promise.withResolvers<void>();
    await page.route(/\/v1\/conversations[?].*limit=50/, async (route) => {
      const response = await route.fetch();
      await held.promise;
      await route.fulfill({ response });
    });
    await page.goto(`${server.url}#/all/${id}`);
    await page.locator(".message").waitFor();
    await expect.poll(() => server.streams()).toBe(1);
    await write("Are you open?");
    await row(page, "Are you open?").waitFor();
    const answered = page.waitForResponse(/\/v1\/conversations[?].*limit=50/);
    held.resolve();
    await answered;
    await shop.conversations.setLabels(id, ["later"]);
    await row(page, "later").first().waitFor();
    expect(await page.locator(".row").count()).toBe(1);
  },
);

longTest(
  "a conversation that a colleague closes before the events are followed leaves the list",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    const phones = ["+14155550100", "+14155550101"];
    const [first] = await Promise.all(
      phones.map((from) => shop.sandbox.inbound({ from, body: "Hello?" })),
    );
    const follow = await holdStream(page);
    await page.goto(server.url);
    await row(page, "+1 415 555 0100").waitFor();
    await shop.conversations.update(first?.conversation_id ?? "", { status: "closed" });
    follow();
    await row(page, "+1 415 555 0100").waitFor({ state: "detached" });
    expect(await page.locator(".row").count()).toBe(1);
  },
);

longTest(
  "an open conversation that a colleague closes before the events are followed can be reopened",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    const { conversation_id: id } = await inboundText(shop);
    const follow = await holdStream(page);
    const markedRead = page.waitForResponse("**/read");
    // The search does not find it, so the list does not tell that it was closed.
    await page.goto(`${server.url}#/all/${id}?q=zebra`);
    await (await markedRead).finished();
    await shop.conversations.update(id, { status: "closed" });
    follow();
    await page.getByRole("button", { name: "Reopen" }).waitFor();
  },
);

longTest(
  "a hand-off and a changed contact are shown although they precede the stream of events",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    const { conversation_id: id, contact_id } = await inboundText(shop);
    const follow = await holdStream(page);
    const handoffsRead = page.waitForResponse(/\/v1\/events[?]/);
    await page.goto(`${server.url}#/all/${id}`);
    await (await handoffsRead).finished();
    await page.locator(".facts", { hasText: "+1 415 555 0100" }).waitFor();
    await shop.conversations.handOff(id, { reason: "Wants a refund" });
    await shop.contacts.update(contact_id, { attributes: { plan: "Pro" } });
    follow();
    await page.locator(".notice", { hasText: "Wants a refund" }).waitFor();
    await page.getByText("Pro", { exact: true }).waitFor();
  },
);

longTest("what could not be loaded is loaded when the server answers again", async ({ skip }) => {
  const { shop, server, page } = await inbox(skip);
  const { conversation_id: id } = await inboundText(shop);
  await shop.conversations.addNote(id, { body: "Regular customer" });
  const parts = /\/(notes|observations|consents|sentiment)\b/;
  await page.route(parts, (route) => route.abort());
  await page.goto(`${server.url}#/all/${id}`);
  const retry = page.getByRole("button", { name: "Try again" });
  await retry.first().waitFor();
  await page.unroute(parts);
  await page.locator(".note", { hasText: "Regular customer" }).waitFor();
  await expect.poll(() => retry.count()).toBe(0);
});

longTest(
  "what broke off while it was loaded is told as an outage, and loaded again",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    const { conversation_id: id } = await inboundText(shop);
    await shop.conversations.addNote(id, { body: "Regular customer" });
    server.breakOff(/\/notes$/);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${server.url}#/all/${id}`);
    await page.locator(".thread").getByText("The server does not respond.").waitFor();
    server.breakOff(undefined);
    await page.locator(".note", { hasText: "Regular customer" }).waitFor();
    // All is read again once the page has asked whether the server is back, and not before.
    const times = (path: string): number => asked.filter((each) => each.endsWith(path)).length;
    expect(times("/v1/agents")).toBeLessThanOrEqual(times("/session"));
  },
);

longTest(
  "on a developer's machine, the printed token opens the page and a wrong one does not",
  async ({ skip }) => {
    const { engine } = await newShop();
    const server = await servePage(inboxHandler(engine));
    const { page } = await newTab(await newContext(skip), { width: 320, height: 640 });
    await page.goto(server.url);
    const token = page.getByLabel("Token");
    await token.fill("wrong");
    await token.press("Enter");
    await page.getByText("This is not the token").waitFor();
    if (isLong) expect(await accessibilityFaults(page)).toEqual([]);
    await token.fill(server.token ?? "");
    await token.press("Enter");
    await page.getByText("No open conversations").waitFor();
    await page.reload();
    await page.getByText("No open conversations").waitFor();
  },
);

longTest(
  "who goes elsewhere while a conversation is being closed stays there",
  async ({ skip }) => {
    const { shop, server, page } = await inbox(skip);
    const { conversation_id: id } = await inboundText(shop);
    const held = Promise.withResolvers<void>();
    await page.route(`**/v1/conversations/${id}`, async (route) => {
      if (route.request().method() === "PATCH") await held.promise;
      await route.continue();
    });
    await page.goto(`${server.url}#/all/${id}`);
    const requested = page.waitForRequest((request) => request.method() === "PATCH");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await requested;
    await page.evaluate("location.hash = '#/snoozed'");
    held.resolve();
    await page.getByText("Conversation closed").waitFor();
    expect(await page.evaluate("location.hash")).toBe("#/snoozed");
  },
);
