/** The inbox by keyboard: its list, its dialogs and forms, and where the focus is. */
import { expect, test } from "vitest";
import { longTest } from "../support/runs.ts";
import { openConversation, openInbox } from "./shop-pages.ts";

const focused = `document.activeElement?.labels?.[0]?.textContent`;

longTest(
  "a dialog begins in its first field, Enter confirms it once, and it says what it refuses",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id: id, contact_id } = await shop.sandbox.inbound({
      from,
      body: "Hello?",
    });
    await shop.conversations.assign(id, { type: "human", id: "lee" });
    await page.goto(`${url}#/all/${id}`);
    await page.getByText("Nothing noted").waitFor();
    const button = (name: string) => page.getByRole("button", { name, exact: true }).first();
    const dialog = page.getByRole("dialog");
    const begins = async (field: string): Promise<void> => {
      await dialog.waitFor();
      expect(await page.evaluate(focused)).toContain(field);
    };
    const done = () => dialog.waitFor({ state: "detached" });

    await button("Attach a file by its address").click();
    await begins("Address of the file");
    await page.keyboard.type("plant.jpg");
    await page.keyboard.press("Enter");
    await dialog.getByText("Enter an address that begins with").waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("https://example.com/plant.jpg");
    await page.keyboard.press("Enter");
    await done();
    const chip = page.locator(".chip", { hasText: "plant.jpg" });
    await chip.getByRole("button").press("Enter");
    await chip.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.className")).toBe("composer-area");

    await page.locator(".conversation-header h2").click();
    await page.keyboard.press("s");
    await page.getByRole("option", { name: "At a date and time" }).click();
    await begins("At a date and time");
    await page.getByLabel("At a date and time").fill("2020-01-01T10:00");
    await dialog.getByText("Enter a later time than now.").waitFor();
    await page.keyboard.press("Enter");
    expect(await dialog.isVisible()).toBe(true);
    const later = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16);
    await page.getByLabel("At a date and time").fill(later);
    await page.keyboard.press("Enter");
    await done();
    await expect.poll(async () => (await shop.conversations.get(id)).status).toBe("snoozed");
    await shop.conversations.update(id, { status: "open" });

    // While the hand-off is under way, neither Enter nor a click repeats it.
    const held = Promise.withResolvers<void>();
    let handOffs = 0;
    await page.route("**/handoff", async (route) => {
      handOffs++;
      await held.promise;
      await route.continue();
    });
    await button("More actions").click();
    await page.getByRole("menuitem", { name: "Hand off to people" }).click();
    await begins("Reason");
    await page.keyboard.type("Wants a person");
    for (let times = 0; times < 2; times++) await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Hand off to people" }).click();
    held.resolve();
    await done();
    await page.locator(".notice", { hasText: "Wants a person" }).waitFor();
    expect(handOffs).toBe(1);

    await button("Merge with another contact").click();
    await begins("Find the other contact");
    await page.keyboard.type("Nobody");
    await dialog.getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    await done();
    await button("Record an opt-out").click();
    await begins("Where this comes from");
    await page.keyboard.type("On the phone");
    await page.keyboard.press("Enter");
    await done();
    const { data } = await shop.contacts.consents(contact_id);
    expect(data[0]).toMatchObject({ status: "opted_out", evidence: [{ detail: "On the phone" }] });
    expect(faults).toEqual([]);
  },
);

const place = `(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent)`;

test("the list is one stop of the Tab key, and the arrow keys go through it", async ({ skip }) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const ids: string[] = [];
  for (let i = 0; i < 120; i++) {
    const from = `+1415555${String(i).padStart(4, "0")}`;
    await shop.contacts.create({ phone: from, name: `Person ${i}` });
    ids.unshift((await shop.sandbox.inbound({ from, body: "Hello?" })).conversation_id);
  }
  await page.goto(`${url}#/all/${ids[2]}`);
  await page.locator(".row.is-active").waitFor();
  await page.getByRole("toolbar", { name: "Actions" }).waitFor();
  const press = async (...keys: string[]): Promise<unknown> => {
    for (const key of keys) await page.keyboard.press(key);
    return page.evaluate(place);
  };
  await page.keyboard.press("/");
  // The open conversation is where the list begins.
  expect(await press("Tab")).toContain("Person 117");
  expect(await press("Tab")).toBe("Assign");
  expect(await press("Shift+Tab")).toContain("Person 117");
  expect(await press("ArrowDown", "ArrowDown")).toContain("Person 115");
  expect(await press("ArrowUp")).toContain("Person 116");
  expect(await press("Home")).toContain("Person 119");
  // Each End goes to the last row that is loaded, and loads more.
  await expect.poll(() => press("End")).toContain("Person 0");
  expect(await press("Tab")).toBe("Assign");
  await press("Shift+Tab", "Enter");
  await page.locator(".conversation-header h2", { hasText: "Person 0" }).waitFor();
  expect(faults).toEqual([]);
});

longTest(
  "the focus goes along on a screen that has room for the list or the conversation alone",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    for (let i = 0; i < 30; i++) {
      const from = `+1415555${String(i).padStart(4, "0")}`;
      await shop.contacts.create({ phone: from, name: `Person ${i}` });
      await shop.sandbox.inbound({ from, body: "Hello?" });
    }
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(url);
    const row = page.locator(".row", { hasText: "Person 8" });
    await page.locator(".row").first().focus();
    await expect
      .poll(async () => {
        await page.keyboard.press("ArrowDown");
        return page.evaluate(place);
      })
      .toContain("Person 8");
    for (const leave of [() => page.keyboard.press("Escape"), () => page.goBack()]) {
      await row.press("Enter");
      await page.getByRole("button", { name: "More actions" }).waitFor();
      expect(await page.evaluate(place)).toBe("Conversation");
      await page.keyboard.press("c");
      await page.getByText("Nothing noted").waitFor();
      expect(await page.evaluate(place)).toBe("Contact");
      await page.keyboard.press("Tab");
      expect(await page.evaluate(place)).toBe("Hide the contact");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.evaluate(place)).toBe("Contact panel");
      await leave();
      await expect.poll(() => page.evaluate(place)).toContain("Person 8");
    }
    expect(faults).toEqual([]);
  },
);

longTest.for([1440, 1000, 390])(
  "the focus goes along with j and k, and to the next row from one that leaves the list, on %i px",
  async (width, { skip }) => {
    const { shop, url, page } = await openInbox(skip);
    for (let i = 0; i < 4; i++) {
      const from = `+1415555${String(i).padStart(4, "0")}`;
      await shop.contacts.create({ phone: from, name: `Person ${i}` });
      await shop.sandbox.inbound({ from, body: "Hello?" });
    }
    await page.setViewportSize({ width, height: 800 });
    await page.goto(url);
    const isNarrow = width === 390;
    const focused = () => page.evaluate(place);
    const opened = (name: string) =>
      page.locator(".conversation-header h2", { hasText: name }).waitFor();
    await page.locator(".row", { hasText: "Person 3" }).press("Enter");
    await opened("Person 3");
    for (const [key, name] of [
      ["j", "Person 2"],
      ["j", "Person 1"],
      ["k", "Person 2"],
    ] as const) {
      await page.keyboard.press(key);
      await opened(name);
      await expect.poll(focused).toContain(isNarrow ? "Conversation" : name);
    }
    await page.getByRole("button", { name: "More actions" }).focus();
    await page.keyboard.press("j");
    await opened("Person 1");
    await expect.poll(focused).toContain(isNarrow ? "Conversation" : "Person 1");
    await page.keyboard.press("e");
    await expect
      .poll(async () => (await shop.conversations.list({ status: "open" })).data.length)
      .toBe(3);
    await page.keyboard.press("Escape");
    await page.locator(".row", { hasText: "Person 1" }).waitFor({ state: "detached" });
    await expect.poll(focused).toContain("Person 0");
    for (const name of ["Person 0", "Person 2", "Person 3"]) {
      const row = page.locator(".row", { hasText: name });
      await row.press("Enter");
      await opened(name);
      await page.keyboard.press("e");
      await page.getByText("Conversation closed").last().waitFor();
      await page.keyboard.press("Escape");
      await row.waitFor({ state: "detached" });
    }
    await page.getByText("No open conversations").waitFor();
    expect(await page.evaluate("document.activeElement.matches('.list')")).toBe(true);
  },
);

longTest(
  "the focus goes along with j and k from beyond the rows in sight, and from where there was none",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    let id = "";
    // More than the rows in sight and those that are ready around them.
    for (let i = 0; i < 40; i++) {
      const from = `+1415555${String(i).padStart(4, "0")}`;
      id = (await shop.sandbox.inbound({ from, body: `Message ${i}.` })).conversation_id;
    }
    const press = async (key: string, message: string) => {
      await page.keyboard.press(key);
      await page.locator(".row:focus", { hasText: message }).waitFor();
    };
    await page.goto(url);
    await page.locator(".row", { hasText: "Message 39." }).waitFor();
    await press("k", "Message 0.");
    await press("k", "Message 1.");
    // It stays with the row that is scrolled out of sight.
    await page.evaluate("document.querySelector('.virtual-list').scrollTop = 0");
    await page.locator(".row", { hasText: "Message 39." }).waitFor();
    await press("k", "Message 2.");
    // The list does not have what is opened.
    await shop.conversations.update(id, { status: "closed" });
    await page.goto(`${url}#/all`);
    await page.reload();
    await page.locator(".row", { hasText: "Message 38." }).waitFor();
    await page.evaluate(`location.hash = "#/all/${id}"`);
    await page.locator(".message", { hasText: "Message 39." }).waitFor();
    await press("j", "Message 38.");
  },
);

longTest(
  "what a person writes or opens on a narrow screen is not under the contact",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    await shop.sandbox.inbound({ from: "+14155550100", body: "Hello?" });
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(url);
    const contact = page.getByRole("complementary", { name: "Contact" });
    await page.locator(".row").click();
    await page.getByRole("button", { name: "More actions" }).waitFor();
    await page.keyboard.press("c");
    await contact.waitFor();
    await page.keyboard.press("r");
    await contact.waitFor({ state: "detached" });
    await page.locator(".composer-area:focus").press("Escape");
    await page.keyboard.press("c");
    await contact.waitFor();
    await page.goBack();
    await page.locator(".row").click();
    await page.getByRole("button", { name: "More actions" }).waitFor();
    expect(await contact.count()).toBe(0);
    expect(faults).toEqual([]);
  },
);

longTest(
  "who edits a contact begins in its name, comes to what is wrong, and back to where it began",
  async ({ skip }) => {
    const { page } = await openConversation(skip);
    await page.getByText("Nothing noted").waitFor();
    const edit = page.getByRole("complementary", { name: "Contact" }).getByRole("button", {
      name: "Edit",
    });
    await edit.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(focused)).toBe("Name");
    await page.getByLabel("Email").fill("ann");
    await page.keyboard.press("Enter");
    await page.getByText("must be an email address").waitFor();
    await expect.poll(() => page.evaluate(focused)).toBe("Email");
    await page.keyboard.type("@example.com");
    await page.keyboard.press("Enter");
    await page.getByText("ann@example.com").waitFor();
    await expect.poll(() => page.evaluate(place)).toBe("Edit");
  },
);
