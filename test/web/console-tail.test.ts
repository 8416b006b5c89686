/**
 * The tail of events and the list of messages: while they are read, after an outage, and when a
 * message is redacted.
 */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { holdAnswers } from "./hold-answers.ts";
import { newTab, openConsole } from "./shop-pages.ts";

longTest("an event that arrives while the list is read stays in the list", async ({ skip }) => {
  const { shop, url, context, page } = await openConsole(skip);
  // The tabs share one stream, so the second one shows what the first one has received.
  const { page: second } = await newTab(context);
  for (const each of [page, second]) {
    await each.goto(`${url}#/events`);
    await each.getByText("No events").waitFor();
    await each.getByRole("status").getByText("Live").waitFor();
  }
  const { arrived, release } = await holdAnswers(page, /\/v1\/events\?/);
  await page.evaluate("location.hash = '#/events?type=message.received'");
  await arrived;
  await shop.sandbox.inbound({ from: "+14155550100", body: "Meanwhile" });
  const row = ".event-row:has-text('message.received')";
  await second.locator(row).waitFor();
  await release();
  await page.locator(row, { hasText: "Meanwhile" }).waitFor();
  expect(await page.locator(".event-row").count()).toBe(1);
});

longTest(
  "a message that is redacted while the tail is read loses its text in the tail, too",
  async ({ skip }) => {
    const { shop, url, context, page } = await openConsole(skip);
    const { page: second } = await newTab(context);
    const { id } = await shop.sandbox.inbound({ from: "+14155550100", body: "Card 4111" });
    for (const each of [page, second]) {
      await each.goto(`${url}#/events?type=message.redacted`);
      await each.getByRole("status").getByText("Live").waitFor();
    }
    const { arrived, release } = await holdAnswers(page, /\/v1\/events\?/);
    await page.evaluate("location.hash = '#/events?type=message.received'");
    await arrived;
    await shop.messages.redact(id);
    // The tabs share one stream, so the first one has received what the second one shows.
    await second.locator(".event-row").waitFor();
    await release();
    await page.locator(".event-row").waitFor();
    expect(await page.getByText("4111").count()).toBe(0);
  },
);

longTest(
  "a tail that is paused stands still, also when the server is back, and misses nothing",
  async ({ skip }) => {
    const { shop, page, url, stop, restart } = await openConsole(skip);
    const write = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
    const shown = page.locator(".event-summary");
    await page.goto(`${url}#/events?type=message.received`);
    await page.getByRole("status").getByText("Live").waitFor();
    await write("First");
    await shown.getByText("First").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    stop();
    await write("Second");
    restart();
    await page.getByText("Connected again").waitFor();
    await write("Third");
    await page.getByRole("button", { name: /2 new events/ }).waitFor();
    expect(await shown.allTextContents()).toEqual(["First"]);
    await page.getByRole("button", { name: "Resume" }).click();
    await expect.poll(() => shown.allTextContents()).toEqual(["Third", "Second", "First"]);
  },
);

longTest(
  "a filter that matches nothing yet shows the first event that matches, though the pointer was on the list",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    const write = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
    await page.goto(`${url}#/events?type=message.received`);
    await page.getByRole("status").getByText("Live").waitFor();
    await write("First");
    await page.locator(".event-row").hover();
    await page.keyboard.press("/");
    await page.keyboard.type("Second");
    await page.getByText("No events").waitFor();
    await write("Second");
    await page.getByRole("button", { name: "Show 1 new event" }).click();
    await page.locator(".event-summary", { hasText: "Second" }).waitFor();
  },
);

test("a message that is redacted loses its text in the tail, in its event and on a phone, also while the tail is paused", async ({
  skip,
}) => {
  const { shop, url, context, page } = await openConsole(skip);
  const { page: phones } = await newTab(context);
  await page.goto(`${url}#/events?type=message.received`);
  await page.getByRole("status").getByText("Live").waitFor();
  const receive = (body: string) => shop.sandbox.inbound({ from: "+15005550001", body });
  await phones.goto(`${url}#/phones`);
  const { id } = await receive("Card 4111");
  await receive("Thank you");
  await phones.getByText("Card 4111").waitFor();
  await page.locator(".event-row", { hasText: "Card 4111" }).click();
  await page.locator(".detail", { hasText: "Card 4111" }).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await shop.messages.redact(id);
  for (const each of [page, phones]) {
    await expect.poll(() => each.getByText("4111").count()).toBe(0);
  }
  expect(await page.locator(".event-row").count()).toBe(2);
});

test("a run that is shown loses the text of a message that is redacted, and what quotes it", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  const agent = await shop.agents.create({
    name: "Bea",
    instructions: "Help.",
    channels: ["sms"],
    reply: { debounce_ms: 0 },
  });
  const { id } = await shop.sandbox.inbound({ from: "+14155550100", body: "Card 4111" });
  const run = await eventually(async () => {
    const [first] = (await shop.agents.runs(agent.id)).data;
    expect(first?.status).toBe("completed");
    return first?.id ?? "";
  });
  await page.goto(`${url}#/agents/${agent.id}/${run}`);
  await page.getByText("Card 4111").waitFor();
  // The output of the step of the model.
  await page.getByText("confidence").first().waitFor({ state: "attached" });
  await shop.messages.redact(id);
  for (const text of ["4111", "confidence"]) {
    await expect.poll(() => page.getByText(text).count()).toBe(0);
  }
});

longTest(
  "a message that arrives before the list is read counts as new only until the list has it",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    await page.goto(`${url}#/messages`);
    await page.getByText("No messages").waitFor();
    const isReleased = Promise.withResolvers<void>();
    // Of the two kinds of reads, the list's.
    await page.route(/\/v1\/messages\?limit=50$/, async (route) => {
      await isReleased.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Reload" }).click();
    await shop.sandbox.inbound({ from: "+14155550100", body: "Meanwhile" });
    await page.getByRole("button", { name: /new/ }).waitFor();
    isReleased.resolve();
    await page.getByRole("row", { name: "Meanwhile" }).waitFor();
    await page.getByRole("button", { name: "Reload" }).waitFor();
  },
);

longTest(
  "a filter of the tail finds events that were not loaded before, and says how many are kept",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    await shop.contacts.create({ name: "Needle Keller" });
    for (let i = 0; i < 250; i++) await shop.contacts.create({ name: `Ann ${i}` });
    await page.goto(`${url}#/events`);
    await page.locator(".event-row").first().waitFor();
    const filter = page.getByRole("searchbox", { name: "Contains" });
    await filter.fill("Needle");
    await page.locator(".event-row", { hasText: "Needle Keller" }).waitFor();
    await filter.fill("Nobody");
    await page.getByText("No events").waitFor();
  },
);

longTest(
  "latest events that could not be read again are read with another try, not skipped",
  async ({ skip }) => {
    const { shop, url, stop, restart, page } = await openConsole(skip);
    for (let i = 0; i < 110; i++) await shop.contacts.create({ name: `Ann ${i}` });
    await page.goto(`${url}#/events`);
    const row = (name: string) => page.locator(".event-row", { hasText: name });
    await row("Ann 109").waitFor();
    stop();
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByText("Not connected").waitFor();
    await shop.contacts.create({ name: "Missed" });
    await page.route(/v1[/]events[?]/, (route) => route.fulfill({ status: 500, json: {} }));
    restart();
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    await shop.contacts.create({ name: "After" });
    await page.getByRole("button", { name: /^Show . new event/ }).waitFor();
    await page.unrouteAll({ behavior: "wait" });
    await again.click();
    await row("Missed").waitFor();
    await row("After").waitFor();
    await again.waitFor({ state: "detached" });
  },
);

longTest(
  "an address whose filter has no possible time shows the messages without it",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openConsole(skip);
    await shop.sandbox.inbound({ from: "+14155550100", body: "Hello" });
    await page.goto(`${url}#/messages?created_after=yesterday`);
    await page.getByRole("row", { name: "Hello" }).waitFor();
    await page.goto(`${url}#/overview?range=toString`);
    await page.getByText("Accepted").first().waitFor();
    expect(faults).toEqual([]);
  },
);
