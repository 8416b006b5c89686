/** The contacts in the inbox: their list, the page of a contact, and changes while both are open. */
import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { newContext } from "../support/browser/chromium.ts";
import { isLong, longTest } from "../support/runs.ts";
import { faultsOf } from "./faults.ts";
import { newTab, openConversation, openInbox } from "./shop-pages.ts";

const row = (page: Page, hasText: string) => page.locator(".row", { hasText });
const title = (page: Page, name: string) => page.getByRole("heading", { level: 2, name });
const textOf = (page: Page): Promise<string> => page.evaluate("document.body.innerText");
const focused = `(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent)`;

/** The queries of all lists of contacts that the page has read. */
function readLists(page: Page): readonly string[] {
  const queries: string[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith("/v1/contacts")) queries.push(search);
  });
  return queries;
}

test("a person goes through all contacts, opens one and writes to it", async ({ skip }) => {
  const { shop, url, page, faults } = await openInbox(skip);
  for (let i = 0; i < 180; i++) {
    const phone = `+1415555${String(i).padStart(4, "0")}`;
    await shop.contacts.create({ phone, name: `Person ${i}`, labels: i === 179 ? ["vip"] : [] });
  }
  const long = "Featherstonehaugh".repeat(3);
  await shop.contacts.create({ email: `${long}@example.com`, labels: [long, "vip"] });
  const [, newest] = (await shop.contacts.list({ limit: 2 })).data;
  await shop.contacts.setConsent(newest?.id ?? "", "text", { status: "opted_out" });
  const { contact_id } = await shop.sandbox.inbound({ from: "+14155550178", body: "Any ferns?" });
  const read = readLists(page);
  await page.goto(url);
  await page.getByRole("link", { name: "Contacts" }).click();
  const first = row(page, "Person 179");
  await expect
    .poll(() => first.textContent())
    .toMatch(/Person 179.*\+1 415 555 0179.*Opted out.*vip/);
  if (isLong) faults.push(...((await faultsOf(page)) as string[]));
  await first.focus();
  // The key End goes to the last row that is loaded, and so the list loads more.
  await expect
    .poll(async () => {
      await page.keyboard.press("End");
      return page.evaluate(focused);
    })
    .toContain("+1 415 555 0000");
  expect(read.length).toBe(3);
  await page.keyboard.press("Home");
  await row(page, "Person 178").click();
  await title(page, "Person 178").waitFor();
  expect(page.url()).toBe(`${url}#/contacts/${contact_id}`);
  await page.getByRole("link", { name: "Any ferns?" }).waitFor();
  faults.push(...((await faultsOf(page, ".contact-page")) as string[]));

  await page.locator(".contact-page").getByRole("button", { name: "New message" }).click();
  await page.locator(".message", { hasText: "Any ferns?" }).waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.className")).toBe("composer-area");
  await page.goBack();
  await title(page, "Person 178").waitFor();
  await page.getByRole("link", { name: "Any ferns?" }).click();
  await page.locator(".message", { hasText: "Any ferns?" }).waitFor();
  await page.goBack();
  await page.getByRole("button", { name: /Show the message/ }).click();
  await page.locator(".message", { hasText: "Any ferns?" }).waitFor();
  expect(faults).toEqual([]);
});

longTest(
  "contacts that are created, changed and erased elsewhere change the open list",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const read = readLists(page);
    await page.goto(`${url}#/contacts`);
    await page.getByText("No contacts yet").waitFor();
    const ann = await shop.contacts.create({ phone: "+14155550100", name: "Ann Keller" });
    await row(page, "Ann Keller").click();
    // In an account without events, the list is read again once the stream is open.
    const before = read.length;
    await title(page, "Ann Keller").waitFor();
    await shop.sandbox.inbound({ from: "+14155550101", body: "Hello" });
    // Nothing moves under the pointer.
    await page.getByRole("button", { name: "1 change. Show it" }).waitFor();
    await page.mouse.move(0, 0);
    await expect
      .poll(() => page.locator(".row-name").allTextContents())
      .toEqual(["+1 415 555 0101", "Ann Keller"]);
    await shop.contacts.update(ann.id, { name: "Ann Marlow", labels: ["vip"] });
    await title(page, "Ann Marlow").waitFor();
    await row(page, "Ann Marlow").getByText("vip").waitFor();
    // The next contact is only in the list: its page is not open.
    const bo = await shop.sandbox.inbound({ from: "+14155550101", body: "STOP" });
    await row(page, "+1 415 555 0101").getByText("Opted out").waitFor();
    await shop.contacts.erase(bo.contact_id);
    await row(page, "0101").waitFor({ state: "detached" });
    await title(page, "Ann Marlow").waitFor();

    await shop.contacts.erase(ann.id);
    await page.getByText("The contact was erased.").waitFor();
    await page.getByText("No contacts yet").waitFor();
    expect(page.url()).toBe(`${url}#/contacts`);
    expect(await textOf(page)).not.toMatch(/Ann|010[01]/);
    expect(read.length).toBe(before);
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
  },
);

longTest(
  "a contact that is merged leaves the list and the search, and its page leads to the survivor",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const ann = await shop.contacts.create({ phone: "+14155550100", name: "Ann Keller" });
    const other = await shop.contacts.create({ phone: "+14155550101", name: "Ann K." });
    const { page: searching } = await newTab(await newContext(skip));
    await page.goto(`${url}#/contacts/${other.id}`);
    await title(page, "Ann K.").waitFor();
    await searching.goto(`${url}#/contacts?q=ann`);
    await row(searching, "Ann K.").waitFor();

    await shop.contacts.merge(ann.id, other.id);

    await title(page, "Ann Keller").waitFor();
    await expect.poll(() => page.url()).toBe(`${url}#/contacts/${ann.id}`);
    for (const each of [page, searching]) {
      await expect.poll(() => each.locator(".row-name").allTextContents()).toEqual(["Ann Keller"]);
    }
    await page.goto(`${url}#/contacts/${other.id}`);
    await expect.poll(() => page.url()).toBe(`${url}#/contacts/${ann.id}`);
  },
);

longTest(
  "a contact without an address leaves the list of the person who merges it",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const ann = await shop.contacts.create({ phone: "+14155550100", name: "Ann Keller" });
    await shop.contacts.create({ name: "Ann K." });
    await page.goto(`${url}#/contacts/${ann.id}`);
    await row(page, "Ann K.").waitFor();
    await page.getByRole("button", { name: "Merge with another contact" }).click();
    await page.keyboard.type("k");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Ann K." }).click();
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await page.getByText("The contacts were merged.").waitFor();
    await expect.poll(() => page.locator(".row-name").allTextContents()).toEqual(["Ann Keller"]);
    expect(faults).toEqual([]);
  },
);

longTest(
  "an answer that comes late does not undo what a colleague has changed since",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id, contact_id: id } = await shop.sandbox.inbound({ from, body: "Hello" });
    for (const [name, place] of [
      ["Ann Keller", `contacts/${id}`],
      ["Ann Marlow", `all/${conversation_id}`],
    ] as const) {
      await page.goto(`${url}#/${place}`);
      await page.getByRole("button", { name: "Edit" }).click();
      const release = Promise.withResolvers<void>();
      const saved = Promise.withResolvers<void>();
      const read = Promise.withResolvers<void>();
      await page.route("**/v1/contacts/ct_*", async (route) => {
        const response = await route.fetch();
        const isSave = route.request().method() === "PATCH";
        if (isSave) {
          saved.resolve();
          await release.promise;
        }
        await route.fulfill({ response });
        if (!isSave && (await response.text()).includes(`for ${name}`)) read.resolve();
      });
      await page.getByLabel("Name", { exact: true }).fill(name);
      await page.keyboard.press("Enter");
      await saved.promise;
      await shop.contacts.update(id, { labels: [`for ${name}`] });
      await read.promise;
      release.resolve();
      await page.locator(".facts", { hasText: `for ${name}` }).waitFor();
      await page.unrouteAll({ behavior: "wait" });
    }
  },
);

longTest(
  "a search narrows the contacts, and a list that failed can be loaded again",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    await shop.contacts.create({ phone: "+14155550100", name: "Ann Keller" });
    await shop.contacts.create({ email: "bo@example.com", name: "Bo Lind" });
    const list = "**/v1/contacts?*";
    await page.route(list, (route) => route.fulfill({ status: 500, body: "{}" }));
    await page.goto(`${url}#/contacts`);
    await page.locator(".list").getByRole("alert").waitFor();
    await page.unroute(list);
    await page.getByRole("button", { name: "Try again" }).click();
    await row(page, "Bo Lind").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("kel");
    await row(page, "Bo Lind").waitFor({ state: "detached" });
    await row(page, "Ann Keller").click();
    await title(page, "Ann Keller").waitFor();
    await page.getByRole("searchbox", { name: "Search contacts" }).fill("nobody");
    await page.getByText("Nothing found").waitFor();
    await page.getByRole("button", { name: "Clear the search" }).click();
    await row(page, "Bo Lind").waitFor();
    expect(await title(page, "Ann Keller").count()).toBe(1);
  },
);

longTest(
  "the keys go through the contacts, even on a screen with room for only one pane",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    for (const name of ["Cy", "Bo", "Ann"]) await shop.contacts.create({ name });
    await page.goto(`${url}#/contacts`);
    await row(page, "Ann").waitFor();
    await page.keyboard.press("j");
    await title(page, "Ann").waitFor();
    await page.keyboard.press("j");
    await title(page, "Bo").waitFor();
    await page.keyboard.press("k");
    await title(page, "Ann").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Next contact").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).toBe(`${url}#/contacts`);

    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${url}#/all`);
    const choice = page.getByRole("combobox", { name: "Views" });
    await choice.focus();
    await choice.selectOption("Contacts");
    await row(page, "Bo").waitFor();
    expect(await page.evaluate(focused)).toContain("Contacts");
    for (const leave of [() => page.keyboard.press("Escape"), () => page.goBack()]) {
      await row(page, "Bo").press("Enter");
      await title(page, "Bo").waitFor();
      expect(await page.evaluate(focused)).toBe("Contact");
      await leave();
      await expect.poll(() => page.evaluate(focused)).toContain("Bo");
    }
    expect(faults).toEqual([]);
  },
);

/** Opens the contacts of a person who gets no events. What changes during an outage is missed. */
async function openAfterOutage(skip: TestContext["skip"], before: number) {
  const { shop, url, stop, restart, page } = await openInbox(skip, { without: ["events:read"] });
  const create = async (name: string, count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await shop.contacts.create({ name: `${name} ${i}` });
  };
  await create("Known", before);
  await page.goto(`${url}#/contacts`);
  const newest = row(page, `Known ${before - 1}`);
  await newest.waitFor();
  stop();
  // A request fails, so the page knows of the outage.
  await newest.press("Enter");
  await page.locator(".banner").waitFor();
  await page.keyboard.press("Escape");
  return { page, create, restart };
}

const rowCount = (page: Page): Promise<string | null> =>
  page.locator(".virtual-row").first().getAttribute("aria-setsize");

/** Goes to the end of the list, again and again as it grows. */
async function expectLast(page: Page, name: string): Promise<void> {
  await page.locator(".row").first().focus();
  await expect
    .poll(async () => {
      await page.keyboard.press("End");
      return page.evaluate(focused);
    })
    .toContain(name);
}

longTest(
  "the list misses no contact after an outage in which more came than a page has",
  async ({ skip }) => {
    const { page, create, restart } = await openAfterOutage(skip, 60);
    await create("Missed", 120);
    restart();
    await row(page, "Missed 119").waitFor();
    await expectLast(page, "Known 0");
    expect(await rowCount(page)).toBe("180");
  },
);

longTest(
  "a person who reaches the end while the beginning is read again gets the rest",
  async ({ skip }) => {
    const { page, restart } = await openAfterOutage(skip, 180);
    const reading = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    await page.route("**/v1/contacts?limit=50", async (route) => {
      reading.resolve();
      await reached.promise;
      await route.continue();
    });
    restart();
    await reading.promise;
    await expectLast(page, "Known 130");
    reached.resolve();
    // Nothing but the answer makes the list go on.
    await expect.poll(() => rowCount(page)).toBe("150");
  },
);

longTest("another try reads the beginning of the list if that has failed", async ({ skip }) => {
  const { page, create, restart } = await openAfterOutage(skip, 2);
  await create("Missed", 1);
  const list = "**/v1/contacts?*";
  await page.route(list, (route) => route.fulfill({ status: 500, body: "{}" }));
  restart();
  await page.locator(".list").getByRole("alert").waitFor();
  await page.unroute(list);
  await page.getByRole("button", { name: "Try again" }).press("Enter");
  await row(page, "Missed 0").waitFor();
});

test("a person who may not read contacts has no list of them", async ({ skip }) => {
  const { url, page } = await openInbox(skip, { without: ["contacts:read"] });
  const read = readLists(page);
  await page.goto(`${url}#/contacts`);
  await page.getByText("There is no such view").waitFor();
  expect(await page.getByText("Contacts").count()).toBe(0);
  expect(read).toEqual([]);
});

longTest(
  "all that is wrong with an edit is said, also what no field can show",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const { id } = await shop.contacts.create({ name: "Ann" });
    await page.goto(`${url}#/contacts/${id}`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Email").fill("ann");
    await page.getByRole("button", { name: "Add an attribute" }).click();
    // More than the field lets people type.
    await page.evaluate(`{
      const field = document.querySelector("[placeholder=Name]");
      field.value = "plan".repeat(20);
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }`);
    await page.getByRole("button", { name: "Save" }).click();
    const form = page.locator(".form");
    await form.getByRole("alert").getByText("attributes").waitFor();
    expect(await form.getByLabel("Email").getAttribute("aria-invalid")).toBe("true");
  },
);

test("an opt-in needs to say where it comes from, and an opt-out does not", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const { id } = await shop.contacts.create({ phone: "+14155550100", name: "Ann Keller" });
  const status = async () => (await shop.contacts.consents(id)).data[0]?.status;
  const open = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const dialog = page.getByRole("dialog");
  const confirm = dialog.getByRole("button", { name: /^Record an/ });
  await page.goto(`${url}#/contacts/${id}`);
  await open("Record an opt-out");
  await confirm.click();
  await expect.poll(status).toBe("opted_out");
  await open("Record an opt-in");
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel("Where this comes from").fill("Asked on the phone");
  await confirm.click();
  await expect.poll(status).toBe("opted_in");
});

test("a conversation shows at once the name that a colleague gives its contact", async ({
  skip,
}) => {
  const { shop, page, contact_id, from } = await openConversation(skip);
  const header = page.locator(".conversation-header");
  const number = "+1 415 555 0100";
  await header.getByRole("heading", { name: number }).waitFor();
  // Once the page shows a message that came later, it follows the events.
  await page.locator(".message").waitFor();
  await shop.sandbox.inbound({ from, body: "Anybody there?" });
  await page.locator(".message", { hasText: "Anybody there?" }).waitFor();
  await shop.contacts.update(contact_id, { name: "Ann Keller" });
  await header.getByRole("heading", { name: "Ann Keller" }).waitFor();
  await row(page, "Ann Keller").waitFor();
  await shop.contacts.update(contact_id, { name: null });
  await header.getByRole("heading", { name: number }).waitFor();
});
