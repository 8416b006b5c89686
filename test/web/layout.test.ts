/** What a person must be able to see, on wide and narrow screens. */
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { standard } from "../../adapters/standard.ts";
import { simulated } from "../../adapters/testing/index.ts";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import {
  accessibilityFaults,
  inboundText,
  newShop,
  newTab,
  openConsole,
  openInbox,
  refundAction,
  servePage,
  startEngine,
} from "./shop-pages.ts";

const phone = { width: 390, height: 844 };
const laptop = { width: 1280, height: 800 };

async function boxOf(element: Locator) {
  const box = await element.boundingBox();
  if (box === null) throw new Error("The element is not shown.");
  return { ...box, right: box.x + box.width, bottom: box.y + box.height };
}

const overlap = async (a: Locator, b: Locator): Promise<boolean> => {
  const [one, other] = [await boxOf(a), await boxOf(b)];
  return one.x < other.right && other.x < one.right && one.y < other.bottom && other.y < one.bottom;
};

test("the composer says on every screen that a reply takes the conversation from the agent", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip, { size: laptop });
  await shop.agents.create({ name: "Bea", instructions: "Help.", channels: ["sms"] });
  const from = "+14155550100";
  const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
  await page.goto(`${url}#/all/${id}`);
  const hint = page.getByText("Bea answers here. Your reply takes the conversation over.");
  // The contact leaves little room for it.
  await page.getByRole("complementary", { name: "Contact" }).waitFor();
  await hint.waitFor();
  await page.setViewportSize(phone);
  await hint.waitFor();
  const { x, right } = await boxOf(hint);
  expect(x).toBeGreaterThan(0);
  expect(right).toBeLessThan(phone.width);
});

longTest(
  "names in every script stand beside their pictures, and an outage hides no part of the work",
  async ({ skip }) => {
    const { shop, page, url, stop } = await openInbox(skip, { size: laptop });
    for (const [i, name] of ["Ann", "محمد"].entries()) {
      const from = `+1415555010${i}`;
      await shop.contacts.create({ phone: from, name });
      await shop.sandbox.inbound({ from, body: name });
    }
    await page.goto(url);
    await page.locator(".row", { hasText: "محمد" }).click();
    await page.locator(".notice").waitFor();
    await page.locator(".message").waitFor();
    const starts = await page.evaluate<number[]>(
      `[...document.querySelectorAll(".row-name, .row-preview .truncate")].map((each) => {
       const range = document.createRange();
       range.selectNodeContents(each);
       return Math.round(range.getBoundingClientRect().left);
     })`,
    );
    expect(starts).toHaveLength(4);
    expect(new Set(starts).size).toBe(1);

    stop();
    await page.locator(".composer-area").fill("Hello");
    await page.locator(".composer-area").press("Control+Enter");
    const banner = page.locator(".banner", { hasText: "Not connected" });
    await banner.waitFor();
    const parts = [".rail-end", ".search", ".row", ".conversation-header", ".notice"];
    for (const part of [...parts, ".message.is-out"]) {
      expect(await overlap(banner, page.locator(part).first()), part).toBe(false);
    }
    expect(await overlap(banner, page.locator(".composer"))).toBe(false);
    // A message of the page stands beside it.
    await page.locator(".conversation-header h2").click();
    await page.keyboard.press("u");
    await page.locator(".toast").waitFor();
    expect(await overlap(banner, page.locator(".toast"))).toBe(false);
  },
);

test("on a phone, what is said about the connection covers nothing of the page", async ({
  skip,
}) => {
  const { shop, page, url, stop } = await openInbox(skip, { size: phone });
  const { conversation_id: id } = await shop.sandbox.inbound({ from: "+14155550100", body: "Hi" });
  await page.goto(`${url}#/all/${id}`);
  await page.locator(".message").waitFor();
  stop();
  await page.evaluate("dispatchEvent(new Event('online'))");
  const banner = page.locator(".banner", { hasText: "Not connected" });
  await banner.waitFor();
  const covered = () =>
    page.evaluate<string[]>(`(() => {
      const { bottom } = document.querySelector(".banner").getBoundingClientRect();
      const all = [...document.querySelectorAll(".shell-page :is(a, button, input, textarea, select, h2)")];
      return all
        .filter((each) => each.checkVisibility() && each.matches(":not(.skip-link)"))
        .filter((each) => each.getBoundingClientRect().top < bottom)
        .map((each) => each.outerHTML);
    })()`);
  expect(await covered()).toEqual([]);
  const skipLink = await page.locator(".skip-link").boundingBox();
  expect(skipLink && skipLink.y + skipLink.height, "It is out of sight.").toBeLessThanOrEqual(0);
  await page.getByRole("button", { name: "Contact panel" }).click();
  await page.getByRole("complementary", { name: "Contact" }).waitFor();
  expect(await covered()).toEqual([]);
  await page.evaluate("location.hash = '#/all'");
  await page.locator(".row").waitFor();
  expect(await covered()).toEqual([]);
});

/** Whether an element is in sight, without scrolling its box. */
async function isInSight(page: Page, element: Locator): Promise<boolean> {
  const { x, right } = await boxOf(element);
  return x >= 0 && right <= (page.viewportSize()?.width ?? 0);
}

longTest(
  "long inputs of an approval leave room for the rest, and a phone shows the states of messages",
  async ({ skip }) => {
    const { agents } = standard();
    const actions = [refundAction(() => {})];
    const { shop, url, page } = await openConsole(skip, {
      options: { agents: { ...agents, actions } },
      size: laptop,
    });
    const from = "+14155550100";
    const { conversation_id } = await shop.sandbox.inbound({ from, body: "Refund, please" });
    const agent = await shop.agents.create({
      name: "Bea",
      instructions: "Help.",
      channels: ["sms"],
    });
    const order = "the one with a very long name ".repeat(20);
    await shop.agents.trigger(agent.id, { conversation_id, action: "refund", input: { order } });
    await eventually(async () => {
      const { data } = await shop.agents.runs(agent.id);
      expect(data.map(({ status }) => status)).toContain("awaiting_approval");
    });
    await page.goto(`${url}#/agents`);
    const waiting = page.getByRole("region", { name: "Waiting for approval" });
    await waiting.getByText("refund", { exact: true }).waitFor();
    expect(await isInSight(page, waiting.locator("td time"))).toBe(true);

    await page.setViewportSize(phone);
    await page.goto(`${url}#/messages`);
    const received = page.getByRole("region", { name: "Messages" }).getByText("Received");
    await received.waitFor();
    expect(await isInSight(page, received)).toBe(true);

    // Each event tells whom it is about.
    await page.setViewportSize(laptop);
    await page.goto(`${url}#/events`);
    await page
      .locator(".event-summary", { hasText: "+1 415 555 0100 · open · " })
      .first()
      .waitFor();
  },
);

longTest("each file of a message has its name and its host", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip, { size: phone });
  const { conversation_id: id } = await shop.sandbox.inbound({
    from: "+14155550100",
    body: "Look",
    media: ["%C3%A9t%C3%A9.jpg", "100%.pdf", ""].map((name) => ({
      url: `https://example.com/files/${name}`,
    })),
  });
  await page.goto(`${url}#/all/${id}`);
  const files = page.locator(".attachment");
  await files.first().waitFor();
  expect(await files.locator("a").allInnerTexts()).toEqual(["été.jpg", "100%.pdf", "Attachment"]);
  expect(await files.getByText("example.com").count()).toBe(3);
});

longTest("a conversation can be assigned to the agents that are enabled", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip, { size: laptop });
  const { conversation_id: id } = await inboundText(shop, "Hi");
  for (const name of ["Bea", "Max"]) {
    const settings = { instructions: "Help.", channels: ["sms" as const] };
    await shop.agents.create({ name, ...settings, enabled: name === "Bea" });
  }
  await page.goto(`${url}#/all/${id}`);
  await page.getByRole("button", { name: "Close", exact: true }).waitFor();
  await page.keyboard.press("a");
  await page.getByRole("option", { name: "Bea" }).waitFor();
  expect(await page.getByRole("option", { name: "Max" }).count()).toBe(0);
});

longTest(
  "all people of a large account have their names, and are offered in the order of these",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip, { size: laptop });
    const { conversation_id: id } = await inboundText(shop, "Hi");
    const ids = Array.from({ length: 120 }, (_, i) => `user-${String(i).padStart(3, "0")}`);
    for (const [i, each] of ids.entries()) {
      await shop.operators.save(each, { name: `Person ${ids.length - i}` });
    }
    await shop.conversations.assign(id, { type: "human", id: ids.at(-1) ?? "" });
    await page.goto(`${url}#/all/${id}`);
    await page.locator(".conversation-sub", { hasText: "Person 1" }).waitFor();
    await page.keyboard.press("a");
    const people = page.locator("[role=option] bdi", { hasText: /^Person/ });
    await people.first().waitFor();
    expect((await people.allTextContents()).slice(0, 3)).toEqual([
      "Person 1",
      "Person 2",
      "Person 3",
    ]);
    await page.keyboard.type("Person 120");
    await page.keyboard.press("Enter");
    await expect
      .poll(async () => (await shop.conversations.get(id)).assignee)
      .toEqual({ type: "human", id: "user-000" });
  },
);

longTest(
  "what could not be loaded about a contact is not called nothing, and is loaded by a click",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip, { size: { width: 1440, height: 900 } });
    const { conversation_id: id, contact_id } = await inboundText(shop, "Hi");
    await shop.contacts.addObservation(contact_id, { content: "Likes ferns", kind: "fact" });
    const parts = /contacts[/]ct_\w+[/](consents|sentiment|observations|conversations)/;
    await page.route(parts, (route) => route.fulfill({ status: 500, json: { status: 500 } }));
    await page.goto(`${url}#/all/${id}`);
    const contact = page.getByRole("complementary", { name: "Contact" });
    const again = contact.getByRole("alert").getByRole("button", { name: "Try again" });
    await expect.poll(() => again.count()).toBe(4);
    for (const nothing of ["Not scored yet", "Nothing noted", "No others"]) {
      expect(await contact.getByText(nothing).count()).toBe(0);
    }
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.unroute(parts);
    for (let left = 3; left >= 0; left--) {
      await again.first().click();
      await expect.poll(() => again.count()).toBe(left);
    }
    for (const part of ["Record an opt-out", "Likes ferns", "No others"]) {
      await contact.getByText(part).waitFor();
    }
  },
);

longTest(
  "people keep their names although a page of them fails, and get those that are missing later",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip, { size: laptop });
    const ids = Array.from({ length: 120 }, (_, i) => `user-${String(i).padStart(3, "0")}`);
    for (const each of ids) await shop.operators.save(each, { name: `Person ${each.slice(-3)}` });
    for (const [i, id] of ["user-000", "user-119"].entries()) {
      const { conversation_id } = await shop.sandbox.inbound({
        from: `+1415555010${i}`,
        body: "Hi",
      });
      await shop.conversations.assign(conversation_id, { type: "human", id });
    }
    const isSeen = Promise.withResolvers<void>();
    await page.route(/operators[?].*cursor/, async (route) => {
      await isSeen.promise;
      await route.fulfill({ status: 500, json: { status: 500 } });
      await page.unroute(/operators[?].*cursor/);
    });
    await page.goto(url);
    const assignees = page.locator(".row-facts");
    await assignees.getByText("Person 000").waitFor();
    expect(await assignees.getByText("user-119").count()).toBe(1);
    isSeen.resolve();
    await assignees.getByText("Person 119").waitFor();
  },
);

longTest(
  "a very long name takes one line above its messages, on every screen",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip, { size: laptop });
    const from = "+14155550100";
    await shop.contacts.create({ phone: from, name: "Wolfeschlegel von und zu ".repeat(8) });
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hi" });
    await page.goto(`${url}#/all/${id}`);
    const author = page.locator(".message-author");
    await author.waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const box = await author.boundingBox();
      expect(box?.height).toBeLessThan(30);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(width);
    }
  },
);

/** Sends a message that the carrier accepts and does not deliver. */
async function undelivered({ shop }: Awaited<ReturnType<typeof newShop>>) {
  const { id } = await shop.messages.send({ to: "+15005550003", body: "Hello" });
  return eventually(async () => {
    const message = await shop.messages.get(id);
    expect(message.status).toBe("undelivered");
    return message;
  });
}

test("only the parts of a page scroll, and not the page", async ({ skip }) => {
  const made = await newShop();
  const { engine, shop, authorize } = made;
  const from = "+14155550100";
  const { conversation_id: id, contact_id } = await shop.sandbox.inbound({ from, body: "Hello" });
  for (let i = 0; i < 20; i++) {
    await shop.contacts.addObservation(contact_id, { content: "Likes ferns", kind: "fact" });
  }
  const { id: message } = await undelivered(made);
  const { page } = await newTab(await newContext(skip), laptop);
  /** Tries to scroll the page. Returns how far that went. */
  const scrolled = (): Promise<number> => page.evaluate("scrollTo(0, 1000), scrollY");
  const { url: inbox } = await servePage(inboxHandler(engine, { authorize }));
  await page.goto(`${inbox}#/all/${id}`);
  await page.getByText("Likes ferns").nth(19).waitFor();
  expect(await scrolled()).toBe(0);
  const { url: consoleUrl } = await servePage(consoleHandler(engine, { authorize }));
  await page.setViewportSize(phone);
  await page.goto(`${consoleUrl}#/messages/${message}`);
  await page.locator(".timeline-row", { hasText: "Receipt: Undelivered" }).waitFor();
  expect(await scrolled()).toBe(0);
});

longTest(
  "an attempt that the carrier accepted does not tell what went wrong later",
  async ({ skip }) => {
    const made = await newShop();
    const { engine, authorize } = made;
    const { id, conversation_id } = await undelivered(made);
    const { page } = await newTab(await newContext(skip), laptop);
    const why = "The handset cannot be reached.";
    const { url: consoleUrl } = await servePage(consoleHandler(engine, { authorize }));
    await page.goto(`${consoleUrl}#/messages/${id}`);
    await page.locator(".timeline-row", { hasText: "Attempt 1" }).waitFor();
    const titles = page.locator(".timeline-row", { hasText: why }).locator(".timeline-row-title");
    expect(await titles.allInnerTexts()).toEqual(["Receipt: Undelivered"]);

    const { url: inbox } = await servePage(inboxHandler(engine, { authorize }));
    await page.goto(`${inbox}#/all/${conversation_id}`);
    await page.locator(".message", { hasText: "Not delivered" }).hover();
    await page.getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: "Details of this message" }).click();
    await page.locator(".timeline-entry", { hasText: "Accepted by sandbox" }).waitFor();
    // The receipt and the status.
    expect(await page.locator(".timeline-entry", { hasText: why }).count()).toBe(2);
  },
);

longTest(
  "an attempt whose answer was lost is not called refused once a look-up has settled it",
  async ({ skip }) => {
    const { clock, random } = simulated({ seed: 1 });
    const { engine, shop, authorize } = await newShop({ clock, random });
    const sent = await shop.messages.send({ to: "+15005550014", body: "Hello" });
    await clock.advance(10_000);
    expect((await shop.messages.get(sent.id)).status).toBe("delivered");
    const { page } = await newTab(await newContext(skip), laptop);
    const { url: consoleUrl } = await servePage(consoleHandler(engine, { authorize }));
    await page.goto(`${consoleUrl}#/messages/${sent.id}`);
    // Each cause stands before the status that it led to.
    await expect
      .poll(() => page.locator(".timeline-row-title").allInnerTexts())
      .toEqual([
        "Created as: Queued",
        "Status: Sending",
        "Attempt 1 over sandbox: answer lost, may have been sent",
        "Status: Ambiguous",
        "Look-up: the carrier has not sent it",
        "Status: Queued",
        "Status: Sending",
        "Attempt 2 over sandbox: accepted",
        "Status: Sent",
        expect.stringMatching(/^Receipt: Sent\s+Ignored$/),
        "Receipt: Delivered",
        "Status: Delivered",
      ]);

    const { url: inbox } = await servePage(inboxHandler(engine, { authorize }));
    await page.goto(`${inbox}#/all/${sent.conversation_id}`);
    await page.locator(".message", { hasText: "Delivered" }).hover();
    await page.getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: "Details of this message" }).click();
    const entries = page.locator(".timeline-entry", { hasText: "Attempt" });
    await entries.filter({ hasText: "No answer from sandbox" }).waitFor();
    await entries.filter({ hasText: "Accepted by sandbox" }).waitFor();
    expect(await entries.count()).toBe(2);
  },
);

longTest("the name of the local operator has one line in both pages", async ({ skip }) => {
  const engine = await startEngine();
  const { page } = await newTab(await newContext(skip), laptop);
  for (const mounted of [inboxHandler(engine), consoleHandler(engine)]) {
    const { other, token } = await servePage(mounted);
    await page.goto(`${other}#token=${token}`);
    const name = page.locator(".rail-name", { hasText: "Local operator" });
    await name.waitFor();
    const lines = "getComputedStyle(each).lineHeight.replace('px', '')";
    const shown = await page.evaluate<number>(
      `[...document.querySelectorAll(".rail-name")].map((each) => each.clientHeight / ${lines})[0]`,
    );
    expect(shown).toBeLessThan(1.5);
  }
});

test("a reader at the end of a thread stays there when the window gets smaller", async ({
  skip,
}) => {
  const size = { width: 1280, height: 800 };
  const { shop, url, page } = await openInbox(skip, { size });
  const body = "Do you have a plant that needs little light and even less water?";
  let id = "";
  for (let i = 0; i < 12; i++) {
    id = (await shop.sandbox.inbound({ from: "+14155550100", body })).conversation_id;
  }
  await page.goto(`${url}#/all/${id}`);
  await page.locator(".message").nth(11).waitFor();
  const left = `(({ scrollHeight, scrollTop, clientHeight }) =>
    scrollHeight - scrollTop - clientHeight)(document.querySelector(".thread"))`;
  const fewFrames = `(async () => {
    for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame);
  })()`;
  for (const narrower of [1200, 1280, 1200]) {
    await expect.poll(() => page.evaluate(left)).toBeLessThan(2);
    await page.setViewportSize({ width: narrower, height: narrower === 1200 ? 720 : 800 });
    // The events of scrolling come a frame or two after the change.
    await page.evaluate(fewFrames);
  }
  await expect.poll(() => page.evaluate(left)).toBeLessThan(2);
});
