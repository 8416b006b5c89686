/** What a person who searches in the inbox finds, and where each result leads. */
import { expect, test } from "vitest";
import { longTest } from "../support/runs.ts";
import { show } from "./faults.ts";
import { kim, openInbox } from "./shop-pages.ts";

test("a search finds conversations everywhere and marks their state, or only in the view", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const write = async (name: string, phone: string) => {
    await shop.contacts.create({ phone, name });
    return (await shop.sandbox.inbound({ from: phone, body: "A refund, please" })).conversation_id;
  };
  const done = await write("Ann", "+14155550100");
  await shop.conversations.update(done, { status: "closed" });
  const taken = await write("Bob", "+14155550101");
  await shop.conversations.assign(taken, { type: "human", id: kim.id });
  await shop.conversations.setLabels(taken, ["vip"]);
  await write("Cem", "+14155550102");
  const rows = page.locator(".row");
  const names = () => page.locator(".row-name").allTextContents();

  await page.goto(`${url}#/mine`);
  await rows.first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("refund");
  await expect.poll(names).toEqual(["Cem", "Bob", "Ann"]);
  expect(await rows.filter({ hasText: "Closed" }).locator(".row-name").textContent()).toBe("Ann");
  await page.getByRole("tab", { name: "Only “Mine”" }).click();
  await expect.poll(names).toEqual(["Bob"]);

  // Filters narrow a search, too, and one click leads out of what finds nothing.
  await show(page, "#/all?q=refund&label=vip");
  await expect.poll(names).toEqual(["Bob"]);
  await show(page, "#/snoozed?q=refund&in=view&label=vip");
  await page.getByRole("link", { name: "Search all conversations" }).click();
  await expect.poll(names).toEqual(["Cem", "Bob", "Ann"]);
  await page.getByRole("button", { name: "Clear the search" }).click();
  await page.getByText("Nothing is snoozed").waitFor();
  expect(faults).toEqual([]);
});

longTest("a search shows the words that it found, and leads to their message", async ({ skip }) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const from = "+14155550100";
  const long = `Good morning. ${"I have a question. ".repeat(10)}Can I get a refund for it?`;
  const { conversation_id: id } = await shop.sandbox.inbound({ from, body: long });
  await shop.conversations.reply(id, { body: "Of course.", author_id: kim.id });
  for (let i = 0; i < 60; i++) await shop.sandbox.inbound({ from, body: `Thanks ${i}` });
  await page.goto(url);
  await page.locator(".row", { hasText: "Thanks 59" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("REFU get");
  const row = page.locator(".row", { hasText: "refund" });
  // On a slow machine the search begins with the first of the words.
  await expect.poll(() => row.locator("mark").allTextContents()).toEqual(["get", "refu"]);
  expect(await row.locator(".row-preview").textContent()).toMatch(
    /^….{0,24}get a refund for it\?$/,
  );
  await row.click();
  await page.locator(".entry.is-marked", { hasText: "refund" }).waitFor();
  // Without the search, the list shows the last message again.
  await page.getByRole("button", { name: "Clear the search" }).click();
  await page.locator(".row", { hasText: "Thanks 59" }).waitFor();
  expect(await page.locator("mark").count()).toBe(0);
  expect(faults).toEqual([]);
});

longTest(
  "each result that a person opens leads to its message, also if they left the one before too soon",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    for (const [i, name] of ["Ann", "Bob"].entries()) {
      const from = `+1415555010${i}`;
      await shop.contacts.create({ phone: from, name });
      await shop.sandbox.inbound({ from, body: `The fern of ${name}` });
      for (let n = 0; n < 60; n++) await shop.sandbox.inbound({ from, body: `Line ${n}` });
    }
    await page.goto(`${url}#/all?q=fern`);
    const result = (name: string) => page.locator(".row", { hasText: name });
    await result("Ann").waitFor();
    // The messages of the first one come only after the person has gone on.
    const isLeft = Promise.withResolvers<void>();
    await page.route(
      /\/messages\?/,
      async (route) => {
        await isLeft.promise;
        await route.abort();
      },
      { times: 1 },
    );
    const asked = page.waitForRequest(/\/messages\?/);
    await result("Ann").click();
    await asked;
    await result("Bob").click();
    const marked = page.locator(".entry.is-marked", { hasText: "The fern of Bob" });
    await marked.waitFor();
    isLeft.resolve();
    await page.locator(".entry", { hasText: "The fern of Bob" }).waitFor();
    expect(await page.locator(".toast").allTextContents()).toEqual([]);
  },
);
