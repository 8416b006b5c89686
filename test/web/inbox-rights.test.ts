/** What the inbox shows to a person who may not see everything, or opens what is not there. */
import { expect, test } from "vitest";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import type { KeyScope } from "../../src/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { longTest } from "../support/runs.ts";
import { faultsOf, show } from "./faults.ts";
import { inboundText, kim, newShop, newTab, openInbox, servePage } from "./shop-pages.ts";

test("a person without rights gets no part of the page that only fails, and no button to try again", async ({
  skip,
}) => {
  const { engine, shop } = await newShop();
  const from = "+14155550100";
  await shop.contacts.create({ phone: from, name: "Ann" });
  const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hi" });
  let may: readonly KeyScope[] = ["conversations:read"];
  const { account_id, mode } = shop.scope;
  const authorize = () => ({ account_id, mode, operator: kim, may: [...may] });
  const { url } = await servePage(inboxHandler(engine, { authorize }));
  const { page } = await newTab(await newContext(skip), { width: 1280, height: 800 });
  const button = (name: string) => page.getByRole("button", { name, exact: true });

  await page.goto(`${url}#/all/${id}`);
  await page.locator(".message", { hasText: "Hi" }).waitFor();
  // Nothing else shows the number of the contact.
  await page.locator(".conversation-header", { hasText: "+1 415 555 0100" }).waitFor();
  expect(await button("Contact panel").count()).toBe(0);
  expect(await page.getByRole("complementary", { name: "Contact" }).count()).toBe(0);

  may = [];
  await page.reload();
  await page.getByRole("heading", { name: "You have no access" }).first().waitFor();
  expect(await button("Try again").count()).toBe(0);
});

longTest(
  "a person who may not read conversations gets the contacts, and nothing that would be refused",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip, { without: ["conversations:read"] });
    const from = "+14155550100";
    const { contact_id: id } = await shop.sandbox.inbound({ from, body: "Great ferns, thanks!" });
    await expect.poll(async () => (await shop.contacts.sentiment(id)).messages.length).toBe(1);
    await page.goto(url);
    await page.locator(".row", { hasText: "0100" }).click();
    const other = page.locator(".other", { hasText: "Great ferns, thanks!" });
    await other.waitFor();
    await page.getByRole("img", { name: /^\+0\.\d+ on / }).waitFor();
    await page.keyboard.press("m");
    expect(await page.getByRole("button", { name: /New message|Show the message/ }).count()).toBe(
      0,
    );
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await other.getByRole("link").or(page.locator("a.other")).count()).toBe(0);
    expect(await page.locator(".rail-place").allTextContents()).toEqual(["Contacts"]);
    expect(await page.locator(".list-view-choice option").count()).toBe(1);
    // An event of a conversation asks for nothing that the person may not read.
    await shop.sandbox.inbound({ from, body: "One more" });
    await shop.contacts.update(id, { labels: ["vip"] });
    await page.locator(".row", { hasText: "vip" }).waitFor();
    await page.goto(`${url}#/nonsense`);
    await page.getByRole("link", { name: "Show the contacts" }).click();
    await page.locator(".row", { hasText: "0100" }).waitFor();
    expect(faults).toEqual([]);
  },
);

longTest(
  "a conversation that is not there leaves no empty place for its contact, and an empty list nothing to select",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip, { size: { width: 1280, height: 800 } });
    await shop.sandbox.inbound({ from: "+14155550100", body: "Hi" });
    await page.goto(`${url}#/all/conv_01M8CWPYSCWG44ZDHZ39K7HKVZ`);
    await page.getByText("This conversation does not exist").waitFor();
    const pane = await page.locator(".open-pane").boundingBox();
    expect((pane?.x ?? 0) + (pane?.width ?? 0)).toBe(1280);

    const hint = page.getByText("Select a conversation");
    await page.goto(`${url}#/all`);
    await hint.waitFor();
    await page.goto(`${url}#/snoozed`);
    await page.getByText("Nothing is snoozed").waitFor();
    expect(await hint.count()).toBe(0);
  },
);

longTest(
  "an address with an unknown view says so, and leads back to the conversations",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const { conversation_id: id } = await inboundText(shop, "Hi");
    const unknown = page.getByRole("heading", { name: "There is no such view" });
    for (const place of ["#/nonsense", `#/nonsense/${id}`]) {
      await page.goto("about:blank");
      await page.goto(url + place);
      await unknown.waitFor();
      expect(await page.locator(".rail [aria-current], .row, .message").count()).toBe(0);
      faults.push(...((await faultsOf(page)) as string[]));
    }
    await page.getByRole("link", { name: "Show the open conversations" }).press("Enter");
    await page.locator(".row").waitFor();
    expect(await page.locator(".list-pane :focus").count()).toBe(1);
    await page.locator(".row").click();
    await page.locator(".message", { hasText: "Hi" }).waitFor();

    // Whoever goes there from a conversation has left it.
    await show(page, "#/nonsense");
    await unknown.waitFor();
    await shop.messages.send({ to: "+14155550100", body: "Bye" });
    await page.goBack();
    await page.locator(".message", { hasText: "Bye" }).waitFor();
    expect(faults).toEqual([]);
  },
);

longTest(
  "a list that went while the pointer was on it is not held still when it is back",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    await shop.sandbox.inbound({ from: "+14155550100", body: "First" });
    await page.goto(`${url}#/all`);
    await page.locator(".row").hover();
    await show(page, "#/nonsense");
    await page.getByText("There is no such view").waitFor();
    await page.mouse.move(0, 0);
    await page.goBack();
    await page.locator(".row", { hasText: "First" }).waitFor();
    await shop.sandbox.inbound({ from: "+14155550101", body: "Second" });
    await page.locator(".row", { hasText: "Second" }).waitFor();
  },
);
