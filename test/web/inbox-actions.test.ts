/** What a person does in the inbox: follows the sentiment, acts on conversations, writes first. */
import { expect, test } from "vitest";
import { isLong, longTest } from "../support/runs.ts";
import { faultsOf } from "./faults.ts";
import { fullConversation } from "./inbox-shop.ts";
import { inboundText, kim, openConversation, openInbox, waitForQuota } from "./shop-pages.ts";

longTest(
  "a bar of the sentiment leads to its message, also in older pages and other conversations",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const from = "+14155550100";
    const earlier = await shop.sandbox.inbound({ from, body: "I love my plant, great!" });
    await shop.conversations.update(earlier.conversation_id, { status: "closed" });
    await shop.messages.send({ to: from, body: "How is it now?" });
    const { conversation_id: id } = await shop.sandbox.inbound({
      from,
      body: "Awful. It is dead.",
    });
    // Messages that wait cause no further events.
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    for (let i = 0; i < 60; i++) {
      await shop.messages.send({ to: from, body: `Reminder ${i}`, send_at });
    }
    await page.goto(`${url}#/all/${id}`);
    const bars = page.locator(".sentiment-bar");
    await expect.poll(() => bars.count()).toBe(2);
    await page.locator(".message", { hasText: "Reminder 59" }).waitFor();
    expect(await page.locator(".message", { hasText: "Awful" }).count()).toBe(0);

    const reached = page.locator(".entry:focus");
    // Also again, after the person has scrolled away.
    for (let times = 0; times < 2; times++) {
      await page.evaluate(`document.querySelector(".thread").scrollTop = 1e6`);
      await bars.last().focus();
      await page.keyboard.press("Enter");
      await reached.getByText("Awful. It is dead.").waitFor();
      const isInView = async (): Promise<boolean> => {
        const { y = -1 } = (await reached.boundingBox()) ?? {};
        return y > 0 && y < 900;
      };
      await expect.poll(isInView).toBe(true);
    }

    await bars.last().focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.locator(".entry.is-marked").getByText("I love my plant").waitFor();
    await reached.getByText("I love my plant").waitFor();
    expect(page.url()).toContain(earlier.conversation_id);

    // On a small screen the contact makes room for the thread.
    await page.setViewportSize({ width: 320, height: 640 });
    await page.getByRole("button", { name: "Contact panel" }).click();
    await bars.last().click();
    await reached.getByText("Awful. It is dead.").waitFor();
    expect(await page.getByRole("complementary", { name: "Contact" }).count()).toBe(0);
    expect(faults).toEqual([]);
  },
);

test("what a person does to a conversation and its contact is done, and what fails keeps its text", async ({
  skip,
}) => {
  const there = await openInbox(skip);
  const { shop, url, page, faults, refuse } = there;
  const id = await fullConversation(there);
  const ann = (await shop.conversations.get(id)).contact.id;
  const from = "+15005559998";
  await shop.senders.create({ address: from, channels: ["sms"], transport: "sandbox" });
  const facts = { name: "A. Keller", email: "ann@example.org" };
  const twin = await shop.contacts.create({
    phone: "+14155550199",
    ...facts,
    attributes: { plan: "Free", size: "XL" },
  });
  await shop.sandbox.inbound({ from: "+14155550199", body: "STOP" });
  const second = await shop.sandbox.inbound({ from: "+14155550199", body: "Is anybody there?" });

  await page.goto(`${url}#/all/${id}`);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const inMenu = async (item: string): Promise<void> => {
    await button("More actions").click();
    await page
      .getByRole("menuitem", { name: item })
      .or(page.getByRole("menuitemradio", { name: item }))
      .click();
  };
  const dialog = page.getByRole("dialog");
  const is = async (wanted: object): Promise<void> => {
    await expect.poll(() => shop.conversations.get(id)).toMatchObject(wanted);
  };
  /** The message that was written last. Scheduled ones are listed before it. */
  const sent = async () => {
    const { data } = await shop.conversations.messages(id, { limit: 10 });
    return data.toSorted((a, b) => (a.id < b.id ? 1 : -1))[0];
  };

  await inMenu("Hand off to people");
  await page.getByLabel("Reason").fill("Wants a person");
  await dialog.getByRole("button", { name: "Hand off to people" }).click();
  await is({ handler: "queue" });
  await page.getByText("Wants a person").waitFor();
  await inMenu("Hand back to the agent");
  await is({ handler: "ai" });
  await inMenu("Priority: Urgent");
  await is({ priority: "urgent" });
  await button("Labels").first().click();
  await page.getByRole("option", { name: "later" }).click();
  await is({ labels: ["vip", "plants"] });
  // The longest label.
  const long = `${"a".repeat(63)}🌿`;
  await page.getByRole("combobox", { name: "Add or remove labels" }).fill(long);
  await page.keyboard.press("Enter");
  await is({ labels: ["vip", "plants", long] });
  await page.getByRole("option", { name: long, selected: true }).waitFor();
  await page.keyboard.press("Escape");
  await inMenu("Mark as unread");
  await is({ unread_count: 1 });

  const composer = page.locator(".composer-area");
  await button("Attach a file by its address").click();
  await page.getByLabel("Address of the file").fill("https://example.com/care.pdf");
  await dialog.getByRole("button", { name: "Attach" }).click();
  await composer.fill("See the file.");
  await composer.press("Control+Enter");
  await expect.poll(sent).toMatchObject({
    channel: "mms",
    media: [{ url: "https://example.com/care.pdf" }],
  });
  await button("Schedule").click();
  await page.getByRole("option", { name: "Tomorrow morning" }).click();
  await composer.fill("Good morning!");
  await button("Send later").click();
  await expect.poll(sent).toMatchObject({ body: "Good morning!", status: "scheduled" });
  await page.getByLabel("From").selectOption(from);
  await composer.fill("From the store.");
  await composer.press("Control+Enter");
  await expect.poll(sent).toMatchObject({ body: "From the store.", from, author: { id: kim.id } });
  await is({ handler: "human", assignee: { id: kim.id } });
  await inMenu("Hand back to the agent");
  await is({ handler: "ai" });

  const contact = page.getByRole("complementary", { name: "Contact" });
  const inContact = (name: string) => contact.getByRole("button", { name, exact: true });
  await inContact("Edit").click();
  refuse(/contacts/);
  await contact.getByLabel("Name", { exact: true }).first().fill("Ann K. Keller");
  await contact.getByLabel("Value").fill("Gold");
  await inContact("Save").click();
  await contact.getByText("The engine is stopping.").waitFor();
  await contact.getByLabel("What you learned").fill("Has a cat");
  await waitForQuota(page, url);
  await page.reload();
  expect(await contact.getByLabel("Name", { exact: true }).first().inputValue()).toBe(
    "Ann K. Keller",
  );
  expect(await contact.getByLabel("What you learned").inputValue()).toBe("Has a cat");
  await inContact("Record an opt-out").click();
  await dialog.getByRole("button", { name: "Record an opt-out" }).click();
  await dialog.getByText("The engine is stopping.").waitFor();
  await page.keyboard.press("Escape");
  refuse(undefined);
  await inContact("Save").click();
  await contact.getByRole("heading", { name: "Details" }).waitFor();
  await expect
    .poll(() => shop.contacts.get(ann))
    .toMatchObject({ name: "Ann K. Keller", attributes: { plan: "Gold" } });
  await inContact("Edit").waitFor();
  await waitForQuota(page, url);

  await inContact("Merge with another contact").click();
  await page.getByLabel("Find the other contact").fill("A. Keller");
  await dialog.getByRole("button", { name: "A. Keller" }).click();
  await page.locator(".merge").waitFor();
  const rowsOf = `[...document.querySelectorAll(".merge tbody tr")].map((row) =>
    [...row.children].map((each) => each.innerText.trim().replaceAll(/\\s+/g, " ")))`;
  expect(await page.evaluate(rowsOf)).toEqual([
    ["Name", "Ann K. Keller", "A. Keller (not kept)", "Ann K. Keller"],
    ["Phone", "+1 415 555 0100", "+1 415 555 0199", "+1 415 555 0100"],
    ["Email", "", "ann@example.org", "ann@example.org"],
    ["plan", "Gold", "Free (not kept)", "Gold"],
    ["size", "", "XL", "XL"],
    [
      "Consent",
      "+1 415 555 0100 Not recorded",
      "+1 415 555 0199 Opted out",
      "+1 415 555 0100 Not recorded +1 415 555 0199 Opted out",
    ],
    ["Conversations", "1", "1", "2"],
  ]);
  await dialog.getByText("The one of A. Keller will be closed").waitFor();
  if (isLong) expect(await faultsOf(page, "dialog")).toEqual([]);
  await dialog.getByRole("button", { name: "Merge" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await shop.contacts.get(twin.id)).merged_into).toBe(ann);
  expect((await shop.conversations.get(second.conversation_id)).status).toBe("closed");
  await contact.getByText("ann@example.org").waitFor();

  expect(faults.filter((fault) => !fault.includes("status of 503"))).toEqual([]);

  await inContact("Erase all data").click();
  const erase = dialog.getByRole("button", { name: "Erase" });
  await page.getByLabel("Type ERASE to confirm").fill("erase");
  expect(await erase.isDisabled()).toBe(true);
  await page.getByLabel("Type ERASE to confirm").fill("ERASE");
  await erase.click();
  await page.getByText("The contact was erased.").waitFor();
  await expect.poll(async () => (await shop.contacts.list()).data).toEqual([]);
  await page.getByText("No open conversations").waitFor();
  // The browser reports by itself what was refused, and what was asked about the erased contact.
  expect(faults.filter((fault) => !fault.startsWith("Failed to load resource"))).toEqual([]);
});

longTest(
  "who undoes that a snoozed conversation was closed has it snoozed as before",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
    const snoozed_until = new Date(Date.now() + 86_400_000).toISOString();
    await shop.conversations.update(id, { status: "snoozed", snoozed_until });
    await page.goto(`${url}#/snoozed/${id}`);
    await page
      .getByText(/^Snoozed until/)
      .first()
      .waitFor();
    await page.getByRole("toolbar", { name: "Actions" }).waitFor();
    await page.keyboard.press("e");
    await expect.poll(async () => (await shop.conversations.get(id)).status).toBe("closed");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(async () => (await shop.conversations.get(id)).status).not.toBe("closed");
    expect(await shop.conversations.get(id)).toMatchObject({ status: "snoozed", snoozed_until });
  },
);

longTest(
  "who undoes that a snoozed conversation was closed hides nothing that the contact wrote since",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
    const snoozed_until = new Date(Date.now() + 86_400_000).toISOString();
    await shop.conversations.update(id, { status: "snoozed", snoozed_until });
    await page.goto(`${url}#/all/${id}`);
    await page.getByRole("toolbar", { name: "Actions" }).waitFor();
    await page.keyboard.press("e");
    const undo = page.getByRole("button", { name: "Undo" });
    await undo.waitFor();
    await shop.sandbox.inbound({ from, body: "Are you there?" });
    await page.locator(".row", { hasText: "Are you there?" }).waitFor();
    const changes: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "PATCH") changes.push(request.url());
    });
    await undo.click();
    await undo.waitFor({ state: "detached" });
    expect(changes).toEqual([]);
    expect((await shop.conversations.get(id)).status).toBe("open");
  },
);

longTest(
  "a mailing into the open conversation is shown, with a few requests a second",
  async ({ skip }) => {
    const { shop, page, faults, from } = await openConversation(skip, "News?");
    await page.locator(".message", { hasText: "News?" }).waitFor();
    let reads = 0;
    page.on("request", (request) => {
      if (/\/v1\/(messages\/|conversations\/[^/]+\/messages)/.test(request.url())) reads++;
    });
    const began = performance.now();
    for (let i = 0; i < 60; i++) await shop.messages.send({ to: from, body: `News ${i}.` });
    await page.locator(".message[data-status=delivered]", { hasText: "News 59." }).waitFor();
    // Four requests in a round, and four rounds a second.
    expect(reads).toBeLessThan(4 * (2 + (performance.now() - began) / 250));
    expect(faults).toEqual([]);
  },
);

test("what a person marks as unread stays so, also while it is still being marked as read", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const { conversation_id: id } = await inboundText(shop);
  const isMarked = Promise.withResolvers<void>();
  await page.route("**/read", async (route) => {
    await isMarked.promise;
    await route.continue();
  });
  const isAsked = page.waitForRequest("**/read");
  await page.goto(`${url}#/all/${id}`);
  await isAsked;
  await page.keyboard.press("u");
  await page.locator(".row.is-unread").waitFor();
  const isAnswered = page.waitForResponse("**/read");
  isMarked.resolve();
  await isAnswered;
  await page.getByText("Marked as unread").waitFor();
  expect((await shop.conversations.get(id)).unread_count).toBe(1);
  expect(faults).toEqual([]);
});

longTest(
  "who goes to another view while a conversation is being closed stays there",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
    const closing = Promise.withResolvers<void>();
    await page.route(`**/v1/conversations/${id}`, async (route) => {
      if (route.request().method() === "PATCH") await closing.promise;
      await route.continue();
    });
    // A busy page learns late that its address has changed.
    await page.addInitScript(`
    const add = window.addEventListener.bind(window);
    window.late = [];
    window.addEventListener = (type, listener, options) =>
      add(type, type === "hashchange" ? (event) => window.late.push(() => listener(event)) : listener, options);
  `);
    await page.goto(`${url}#/all/${id}`);
    await page.getByRole("toolbar", { name: "Actions" }).waitFor();
    await page.keyboard.press("e");
    await page.evaluate(`location.hash = "#/closed"`);
    closing.resolve();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.evaluate(`window.late.forEach((listener) => listener())`);
    await page.locator('.row[href^="#/closed"]', { hasText: "Hello?" }).waitFor();
    expect(faults).toEqual([]);
  },
);

test("a person writes first: to a contact that they find, or to a new number", async ({ skip }) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const dialog = page.getByRole("dialog", { name: "New message" });
  const to = dialog.getByLabel("To");
  const hasFocus = () => page.locator(".composer-area:focus").isVisible();
  const { id: ann } = await shop.contacts.create({ phone: "+14155550100", name: "Ann Keller" });
  const { id: earlier } = await shop.conversations.open({ to: ann });
  await shop.contacts.create({ email: "vi@example.org", name: "Vi Keller" });
  await page.goto(url);
  await page.locator(".row").waitFor();

  // The active conversation opens, ready to write, and a contact without a number says why not.
  await page.keyboard.press("m");
  await to.fill("keller");
  expect(await dialog.getByRole("button", { name: "Vi Keller No phone number" }).isDisabled()).toBe(
    true,
  );
  await to.fill("ann kel");
  await dialog.getByRole("button", { name: "Ann Keller" }).waitFor();
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(hasFocus).toBe(true);
  expect(page.url()).toContain(`#/all/${earlier}`);

  // It is already shown: the cursor goes from the note to the reply.
  await page.getByRole("tab", { name: "Note" }).click();
  await page.getByRole("button", { name: "New message" }).click();
  await to.fill("+1 (415) 555-0100");
  await dialog.getByRole("button", { name: "Ann Keller" }).click();
  await dialog.waitFor({ state: "detached" });
  await expect.poll(hasFocus).toBe(true);
  expect(await page.getByRole("tab", { name: "Reply" }).getAttribute("aria-selected")).toBe("true");

  // A number that nobody knows gets a contact. One without its country code is not offered.
  await page.getByRole("button", { name: "New message" }).click();
  await to.fill("415 555 0199");
  await dialog.getByText("Nothing found").waitFor();
  await to.fill("+1 415 555 0199");
  await dialog.getByRole("button", { name: "Write to +1 415 555 0199" }).click();
  await page.getByText("Write the first one below.").waitFor();
  await expect.poll(hasFocus).toBe(true);
  await page.keyboard.type("Your fern is here.");
  await page.keyboard.press("Control+Enter");
  await page.locator(".row", { hasText: "Your fern is here." }).waitFor();
  const { data } = await shop.messages.list({ to: "+14155550199" });
  expect(data.map(({ body, author }) => [body, author.id])).toEqual([
    ["Your fern is here.", kim.id],
  ]);
  expect(faults).toEqual([]);
});

longTest(
  "a person writes first where a narrow window hides the list, and may change their mind",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const dialog = page.getByRole("dialog", { name: "New message" });
    const from = "+14155550100";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
    const opening = Promise.withResolvers<void>();
    await page.route("**/v1/conversations", async (route) => {
      if (route.request().method() === "POST") await opening.promise;
      await route.continue();
    });
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${url}#/all/${id}`);
    await page.locator(".message", { hasText: "Hello?" }).waitFor();
    await page.keyboard.press("m");
    await dialog.getByLabel("To").fill("+1 415 555 0199");
    const asked = page.waitForRequest((request) => request.method() === "POST");
    await page.keyboard.press("Enter");
    await asked;
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    const answered = page.waitForResponse((response) => response.request().method() === "POST");
    opening.resolve();
    await (await answered).finished();
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect.poll(() => page.locator(".row").count()).toBe(2);
    expect(page.url()).toBe(`${url}#/all/${id}`);
    expect(faults).toEqual([]);
  },
);

test("a click on its button closes a picker, another button opens another picker, and each opens below the buttons", async ({
  skip,
}) => {
  const { page, faults } = await openConversation(skip);
  const button = (name: string) =>
    page.getByRole("toolbar", { name: "Actions" }).getByRole("button", { name, exact: true });
  const picker = (name: string) => page.getByRole("combobox", { name });
  await button("Assign").click();
  await picker("Assign to").waitFor();
  const [first, shown] = await Promise.all([
    button("Assign").boundingBox(),
    page.locator(".popover").boundingBox(),
  ]);
  expect(shown?.x).toBeCloseTo(first?.x ?? Number.NaN, 0);
  await button("Labels").click();
  await picker("Add or remove labels").waitFor();
  expect(await picker("Assign to").count()).toBe(0);
  await button("Labels").click();
  await picker("Add or remove labels").waitFor({ state: "detached" });
  // On a phone, the buttons are in a menu.
  await page.setViewportSize({ width: 390, height: 844 });
  await button("More actions").click();
  await page.getByRole("menuitem", { name: "Assign" }).click();
  await picker("Assign to").waitFor();
  await page.keyboard.press("Escape");
  await picker("Assign to").waitFor({ state: "detached" });
  expect(faults).toEqual([]);
});
