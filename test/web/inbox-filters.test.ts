/** The filters of the lists of the inbox. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { isLong, longTest } from "../support/runs.ts";
import { faultsOf } from "./faults.ts";
import { openConversation, openInbox } from "./shop-pages.ts";

const row = (page: Page, hasText: string) => page.locator(".row", { hasText });
const names = (page: Page): Promise<string[]> => page.locator(".row-name").allTextContents();
const chips = (page: Page): Promise<string[]> => page.locator(".chip").allTextContents();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
/** Whether all labels of the open contact are within the window. */
const inWindow = `[...document.querySelectorAll(".fact-label")].every(
  (each) => each.getBoundingClientRect().right <= innerWidth - 8)`;
const filtersEnd = `document.querySelector(".filters").getBoundingClientRect().right`;
const focused = `(document.activeElement.labels?.[0] ?? document.activeElement).textContent`;

test("a person filters the contacts with the keyboard, and the address keeps the filters", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const long = "wholesale ".repeat(6).trim();
  const people = { Ann: ["vip", "plants", long], Bo: ["vip"], Cy: ["plants", "later"], Dan: [] };
  for (const [i, [name, labels]] of Object.entries(people).entries()) {
    await shop.contacts.create({ phone: `+1415555010${i}`, name: `${name} Keller`, labels });
  }
  const [, , bo] = (await shop.contacts.list()).data;
  await shop.contacts.setConsent(bo?.id ?? "", "text", { status: "opted_out" });
  await page.goto(`${url}#/contacts`);
  await row(page, "Ann").waitFor();
  await page.keyboard.press("f");
  await expect.poll(() => page.evaluate(focused)).toBe("Label");
  if (isLong) faults.push(...((await faultsOf(page)) as string[]));
  await page.keyboard.type("VI");
  await expect
    .poll(() => page.getByRole("group", { name: "Frequent labels" }).textContent())
    .toBe("vip");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => names(page)).toEqual(["Bo Keller", "Ann Keller"]);
  await page.getByLabel("Consent to texts").focus();
  await page.keyboard.type("Not");
  await expect.poll(() => names(page)).toEqual(["Ann Keller"]);
  await page.keyboard.press("Escape");
  expect(await page.evaluate(focused)).not.toContain("Consent");
  expect(page.url()).toBe(`${url}#/contacts?label=vip&opted_out=false`);
  expect(await chips(page)).toEqual(["Label: vip", "Not opted out"]);

  await page.reload();
  await expect.poll(() => names(page)).toEqual(["Ann Keller"]);
  await page.keyboard.press("j");
  await page.getByRole("heading", { level: 2, name: "Ann Keller" }).waitFor();
  expect(page.url()).toMatch(/ct_\w+\?label=vip&opted_out=false$/);
  if (isLong) faults.push(...((await faultsOf(page, ".list-pane, .contact-page")) as string[]));
  expect(await page.evaluate(inWindow)).toBe(true);
  // The label of the contact leads to all that have it.
  await page.getByRole("link", { name: "plants" }).press("Enter");
  await expect.poll(() => names(page)).toEqual(["Cy Keller", "Ann Keller"]);
  expect(page.url()).toBe(`${url}#/contacts?label=plants`);

  await page.setViewportSize({ width: 390, height: 800 });
  await button(page, "1 filter").click();
  // A panel is within the window, also with large text.
  await page.evaluate(`document.documentElement.style.fontSize = "200%"`);
  await expect.poll(() => page.evaluate(filtersEnd)).toBeLessThanOrEqual(390 - 8);
  await page.evaluate(`document.documentElement.style.fontSize = ""`);
  await button(page, "later").click();
  await expect.poll(() => names(page)).toEqual(["Cy Keller"]);
  if (isLong) faults.push(...((await faultsOf(page, ".filters")) as string[]));
  await page.keyboard.press("Escape");
  await button(page, "Remove the filter “Label: later”").press("Enter");
  await expect.poll(() => names(page).then(({ length }) => length)).toBe(4);
  expect(await page.evaluate(focused)).toBe("Filter");
  expect(await page.locator(".chips").count()).toBe(0);
  expect(faults).toEqual([]);
});

longTest(
  "filters apply to a search of contacts, and one click removes them when nothing is found",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const old = await shop.contacts.create({ name: "Ann Keller", labels: ["vip"] });
    // More than one page matches the words.
    for (let i = 0; i < 60; i++) await shop.contacts.create({ name: `Ann ${i}` });
    await page.goto(`${url}#/contacts?q=ann&label=vip`);
    await expect.poll(() => names(page)).toEqual(["Ann Keller"]);
    await page.goto(`${url}#/contacts?q=keller&label=none`);
    await button(page, "Search all contacts").click();
    await row(page, "Ann Keller").waitFor();
    expect(page.url()).toBe(`${url}#/contacts?q=keller`);
    await page.goto(`${url}#/contacts?label=none`);
    await page.getByText("No contact matches the filters").waitFor();
    await page.locator(".list").getByRole("button", { name: "Clear filters" }).click();
    await row(page, "Ann 59").waitFor();

    // Days are those of the browser. The field changes with each digit of the year.
    const { day, before } = await page.evaluate<{ day: string; before: string }>(`(() => {
    const at = new Date(${JSON.stringify(old.created_at)});
    const iso = (date) => [date.getFullYear(), date.getMonth() + 1, date.getDate()]
      .map((part) => String(part).padStart(2, "0")).join("-");
    const day = iso(at);
    at.setDate(at.getDate() - 1);
    return { day, before: iso(at) };
  })()`);
    await page.goto(`${url}#/contacts?q=keller&from=${day}&until=${day}`);
    await row(page, "Ann Keller").waitFor();
    await page.goto(`${url}#/contacts?q=keller&until=${before}`);
    await page.getByText("Nothing found").waitFor();
    await page.goto(`${url}#/contacts`);
    await button(page, "Filter").click();
    const [year, month, date] = day.split("-");
    await page.getByLabel("Added until").pressSequentially(`${month}${date}${year}`);
    await expect.poll(() => page.url()).toBe(`${url}#/contacts?until=${day}`);
    await row(page, "Ann 59").waitFor();
    // A value that a parameter cannot have is ignored, and no day is too early or too late.
    await page.goto(`${url}#/contacts?from=never&until=2026-13-45&opted_out=maybe&label=&q=`);
    await row(page, "Ann 59").waitFor();
    expect(await chips(page)).toEqual([]);
    await page.goto(`${url}#/contacts?from=0001-01-01&until=9998-12-31`);
    await row(page, "Ann 59").waitFor();
    expect(await chips(page)).toHaveLength(2);
    await page.goto(`${url}#/all?label=&q=`);
    await page.getByText("No open conversations").waitFor();
  },
);

longTest(
  "a contact enters and leaves a filtered list as its labels and its consent change",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const from = "+14155550100";
    const ann = await shop.contacts.create({ phone: from, name: "Ann Keller" });
    await page.goto(`${url}#/contacts?label=vip`);
    await page.getByText("No contact matches the filters").waitFor();
    await shop.contacts.update(ann.id, { labels: ["vip"] });
    await row(page, "Ann Keller").waitFor();
    await shop.contacts.update(ann.id, { labels: [] });
    await row(page, "Ann Keller").waitFor({ state: "detached" });

    // The page has not seen who opts out.
    await page.goto("about:blank");
    await page.goto(`${url}#/contacts?opted_out=true`);
    await page.getByText("No contact matches the filters").waitFor();
    await shop.sandbox.inbound({ from, body: "STOP" });
    await row(page, "Ann Keller").waitFor();
    await shop.sandbox.inbound({ from, body: "START" });
    await row(page, "Ann Keller").waitFor({ state: "detached" });
  },
);

longTest(
  "a list whose first page has nothing that passes the filters shows what comes later",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const labels = ["vip"];
    const old = await shop.contacts.create({ phone: "+14155550100", name: "Ann", labels });
    await shop.contacts.setConsent(old.id, "text", { status: "opted_out" });
    for (let i = 0; i < 160; i++) await shop.contacts.create({ name: `Person ${i}`, labels });
    await page.goto(`${url}#/contacts?label=vip&opted_out=true`);
    await expect.poll(() => names(page)).toEqual(["Ann"]);
  },
);

test("a date that a person leaves half-typed is not discarded in silence", async ({ skip }) => {
  const { url, page } = await openConversation(skip);
  const hint = page.getByText("This is incomplete.");
  const day = page.getByLabel("Added from");
  await page.locator(".message").waitFor();
  await page.keyboard.press("s");
  await page.getByRole("option", { name: "At a date and time" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator("input").press("1");
  await page.keyboard.press("Escape");
  await dialog.getByText("Discard what you entered?").waitFor();
  await dialog.getByRole("button", { name: "Discard" }).click();

  await page.goto(`${url}#/contacts`);
  await page.keyboard.press("f");
  await day.press("1");
  expect(await hint.count()).toBe(0);
  await page.getByLabel("Added until").focus();
  await hint.waitFor();
  await day.fill("2026-02-01");
  await hint.waitFor({ state: "detached" });
});
