/** The labels of a contact in the inbox: who changes them, how, and what others change meanwhile. */
import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import type { KeyScope } from "../../src/index.ts";
import { keyScopes } from "../../src/operations/caller.ts";
import { newContext } from "../support/browser/chromium.ts";
import { isLong, longTest } from "../support/runs.ts";
import { faultsOf, show } from "./faults.ts";
import { holdAnswers } from "./hold-answers.ts";
import { kim, newShop, newTab, openInbox, servePage } from "./shop-pages.ts";

const labels = (page: Page): Promise<string[]> => page.locator(".fact-label").allTextContents();
const add = (page: Page) => page.getByRole("button", { name: "Add label" });
const field = (page: Page) => page.getByRole("combobox", { name: "Add or remove labels" });
const option = (page: Page, name: string) => page.getByRole("option", { name, exact: true });
const note = (page: Page) => page.locator(".picker-note");
/**
 * How many pixels the button to add the first label is below the name of the labels, and how far its
 * icon is behind the values of other facts.
 */
const outOfLine = `(() => {
  const baseOf = (selector) => {
    const mark = Object.assign(document.createElement("span"), { style: "display: inline-block" });
    document.querySelector(selector).append(mark);
    const { bottom } = mark.getBoundingClientRect();
    mark.remove();
    return bottom;
  };
  const startOf = (selector) => document.querySelector(selector).getBoundingClientRect().left;
  return [
    baseOf(".fact-labels .button-label") - baseOf(".fact dt"),
    startOf(".fact-labels .icon") - startOf(".fact dd > bdi"),
  ].map(Math.round);
})()`;

/** Opens the inbox with a contact who has written, and with labels that others have. */
async function openLabels(skip: TestContext["skip"]) {
  const inbox = await openInbox(skip);
  const { shop } = inbox;
  const from = "+14155550100";
  const { conversation_id, contact_id } = await shop.sandbox.inbound({ from, body: "Hi" });
  await shop.conversations.setLabels(conversation_id, ["billing"]);
  await shop.contacts.create({ name: "Bo Lind", labels: ["no vip", "vip"] });
  const are = async (wanted: string[]): Promise<void> => {
    await expect.poll(async () => (await shop.contacts.get(contact_id)).labels).toEqual(wanted);
  };
  return { ...inbox, conversation_id, contact_id, are };
}

test("a person labels a contact from its page, with the keyboard and the mouse", async ({
  skip,
}) => {
  const { url, page, faults, contact_id, are } = await openLabels(skip);
  await page.goto(`${url}#/contacts/${contact_id}`);
  await add(page).waitFor();
  expect(await page.evaluate(outOfLine)).toEqual([0, 0]);
  await page.keyboard.press("l");
  // Enter picks the label whose beginning is typed, and no other one when it is pressed again.
  await field(page).pressSequentially("vi");
  await page.keyboard.press("Enter");
  await are(["vip"]);
  await page.locator(".row", { hasText: "0100" }).getByText("vip").waitFor();
  await page.keyboard.press("Enter");
  await are([]);
  await field(page).fill("Wholesale, north");
  await page.keyboard.press("Enter");
  await are(["Wholesale, north"]);
  await option(page, "no vip").click();
  await are(["Wholesale, north", "no vip"]);
  if (isLong) faults.push(...((await faultsOf(page, ".picker")) as string[]));
  await page.keyboard.press("Escape");
  expect(faults).toEqual([]);
});

test("a person labels a contact from the panel, with the keyboard and the mouse", async ({
  skip,
}) => {
  const { shop, url, page, faults, conversation_id, contact_id, are } = await openLabels(skip);
  await shop.contacts.update(contact_id, { labels: ["Wholesale, north", "no vip"] });
  await page.goto(`${url}#/all/${conversation_id}`);
  await expect.poll(() => labels(page)).toEqual(["Wholesale, north", "no vip"]);
  await page.getByRole("button", { name: "Remove the label “no vip”" }).press("Enter");
  await are(["Wholesale, north"]);
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Add label");
  await page.evaluate("document.activeElement.blur()");
  await page.keyboard.press("Shift+L");
  await option(page, "billing").click();
  await are(["Wholesale, north", "billing"]);
  expect((await shop.conversations.get(conversation_id)).labels).toEqual(["billing"]);
  if (isLong) faults.push(...((await faultsOf(page, ".picker, .contact")) as string[]));
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "billing", exact: true }).click();
  await page.locator(".row", { hasText: "0100" }).waitFor();
  expect(faults).toEqual([]);
});

longTest(
  "a label that the server refuses is taken back, and the page says which one and why",
  async ({ skip }) => {
    const { shop, url, page, refuse } = await openInbox(skip);
    const { id } = await shop.contacts.create({ name: "Ann Keller", labels: ["vip"] });
    await page.goto(`${url}#/contacts/${id}`);
    await add(page).click();
    refuse(/contacts/);
    await field(page).fill("plants");
    await page.keyboard.press("Enter");
    await page.getByText("The label “plants” was not added. The engine is stopping.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Remove the label “vip”" }).click();
    await page.getByText("The label “vip” was not removed. The engine is stopping.").waitFor();
    await expect.poll(() => labels(page)).toEqual(["vip"]);
  },
);

longTest(
  "changes are shown at once and keep what a colleague changes before they are stored",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const { id } = await shop.contacts.create({ name: "Ann Keller", labels: ["old", "vip"] });
    await page.goto(`${url}#/contacts/${id}`);
    await add(page).click();
    const saving = await holdAnswers(page, `**/v1/contacts/${id}`, { which: "writes" });
    for (const label of ["first", "second"]) {
      await field(page).fill(label);
      await page.keyboard.press("Enter");
    }
    await expect.poll(() => labels(page)).toEqual(["old", "vip", "first", "second"]);
    await saving.arrived;
    await shop.contacts.update(id, { labels: ["vip", "first", "theirs"] });
    await expect.poll(() => labels(page)).toEqual(["vip", "first", "theirs", "second"]);
    await saving.release();
    await expect
      .poll(async () => (await shop.contacts.get(id)).labels)
      .toEqual(["vip", "first", "theirs", "second"]);
    await expect.poll(() => labels(page)).toEqual(["vip", "first", "theirs", "second"]);
  },
);

/** Opens the page of a contact for a person without some rights. */
async function openWithout(skip: TestContext["skip"], scope: KeyScope, given: string[]) {
  const { engine, shop } = await newShop();
  const { account_id, mode } = shop.scope;
  const may = keyScopes.filter((each) => each !== scope);
  const authorize = () => ({ account_id, mode, operator: kim, may });
  const { url } = await servePage(inboxHandler(engine, { authorize }));
  const { page } = await newTab(await newContext(skip));
  const { id } = await shop.contacts.create({ name: "Ann Keller", labels: given });
  await page.goto(`${url}#/contacts/${id}`);
  await page.locator(".fact-label").first().waitFor();
  return { shop, page, id };
}

longTest(
  "a person who gets no events adds a label and keeps one that the page does not know",
  async ({ skip }) => {
    const { shop, page, id } = await openWithout(skip, "events:read", ["vip"]);
    await shop.contacts.update(id, { labels: ["vip", "theirs"] });
    await add(page).click();
    await field(page).fill("mine");
    await page.keyboard.press("Enter");
    await expect.poll(() => labels(page)).toEqual(["vip", "theirs", "mine"]);
    expect((await shop.contacts.get(id)).labels).toEqual(["vip", "theirs", "mine"]);
    await page.keyboard.press("Escape");

    const from = "+14155550100";
    const { conversation_id } = await shop.sandbox.inbound({ from, body: "Hi" });
    await shop.conversations.setLabels(conversation_id, ["billing"]);
    await show(page, `#/all/${conversation_id}`);
    await page.locator(".row", { hasText: "Hi" }).getByText("billing").waitFor();
    await shop.conversations.setLabels(conversation_id, ["theirs"]);
    await page.keyboard.press("l");
    await field(page).fill("mine");
    await page.keyboard.press("Enter");
    await expect
      .poll(async () => (await shop.conversations.get(conversation_id)).labels)
      .toEqual(["theirs", "mine"]);
  },
);

longTest(
  "a person who may not change contacts sees their labels, and no button or key changes them",
  async ({ skip }) => {
    const { page } = await openWithout(skip, "contacts:write", ["vip"]);
    await page.getByRole("link", { name: "vip", exact: true }).waitFor();
    expect(await page.locator(".facts").getByRole("button", { name: /label/ }).count()).toBe(0);
    await page.keyboard.press("l");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Next contact").waitFor();
    expect(await page.getByText("Labels of the contact").count()).toBe(0);
    expect(await field(page).count()).toBe(0);
  },
);

longTest("the picker says why a label cannot be added, before it is sent", async ({ skip }) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const many = Array.from({ length: 48 }, (_, index) => `label ${index}`);
  const { id } = await shop.contacts.create({ name: "Ann Keller", labels: many });
  await shop.contacts.create({ name: "Bo Lind", labels: ["no vip", "vip"] });
  await page.goto(`${url}#/contacts/${id}`);
  await add(page).click();
  await field(page).fill(`${"🌿".repeat(64)}a`);
  const says = async (text: string): Promise<void> => {
    await expect.poll(() => note(page).textContent()).toBe(text);
  };
  await says("A label can have at most 64 characters. This one has 65.");
  expect(await page.getByRole("option").count()).toBe(0);
  await field(page).fill("not\0allowed");
  await says("A label cannot have one of these characters.");
  await field(page).fill("🌿".repeat(64));
  await page.keyboard.press("Enter");
  await expect.poll(async () => (await shop.contacts.get(id)).labels.at(-1)).toBe("🌿".repeat(64));
  await field(page).fill("vip");
  await page.keyboard.press("Enter");
  await says("At most 50 labels are possible. Remove one to add another.");
  expect(await option(page, "no vip").count()).toBe(0);
  // Enter picks the same label again, although others have left the list.
  await page.keyboard.press("Enter");
  await option(page, "no vip").click();
  await expect
    .poll(async () => (await shop.contacts.get(id)).labels.slice(-2))
    .toEqual(["🌿".repeat(64), "no vip"]);
  faults.push(...((await faultsOf(page)) as string[]));
  await field(page).fill("label 47");
  await page.keyboard.press("Enter");
  await option(page, "vip").click();
  await expect.poll(async () => (await shop.contacts.get(id)).labels.at(-1)).toBe("vip");
  expect((await shop.contacts.get(id)).labels).not.toContain("label 47");
  expect(faults).toEqual([]);
});
