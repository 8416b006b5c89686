/** The keys of the inbox: what each does, and when it does nothing. */
import { expect, test } from "vitest";
import { longTest } from "../support/runs.ts";
import { holdAnswers } from "./hold-answers.ts";
import { openConversation, openInbox } from "./shop-pages.ts";

const focused = `document.activeElement?.labels?.[0]?.textContent`;

longTest(
  "conversations that a person passes by with a key held down are not loaded",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    for (let i = 0; i < 40; i++) {
      const from = `+1415555${String(i).padStart(4, "0")}`;
      await shop.contacts.create({ phone: from, name: `Person ${i}` });
      await shop.sandbox.inbound({ from, body: "Hello?" });
    }
    await page.clock.install();
    await page.goto(url);
    await page.locator(".row").first().waitFor();
    const loaded: string[] = [];
    page.on("request", (request) => {
      if (/\/conversations\/[^/]+\/messages/.test(request.url())) loaded.push(request.url());
    });
    const heading = page.locator(".conversation-header h2");
    await page.keyboard.down("j");
    await heading.getByText("Person 39").waitFor();
    // On a slow machine the key would rest for so long that it counts as up.
    await page.clock.pauseAt(Date.now() + 3_600_000);
    for (let i = 0; i < 20; i++) await page.keyboard.down("j");
    await page.locator(".row.is-active", { hasText: "Person 19" }).waitFor();
    await page.clock.resume();
    await page.keyboard.up("j");
    await heading.getByText("Person 19").waitFor();
    await page.locator(".message").waitFor();
    expect(new Set(loaded).size).toBe(2);
    expect(faults).toEqual([]);
  },
);

test("a person sends a reply, closes its conversation and goes on to the next one with one key, and takes the closing back with another", async ({
  skip,
}) => {
  const { shop, url, refuse, page, faults } = await openInbox(skip);
  const ids: string[] = [];
  for (const name of ["Cleo", "Ben", "Ann"]) {
    const from = `+141555501${ids.length}0`;
    await shop.contacts.create({ phone: from, name });
    ids.push((await shop.sandbox.inbound({ from, body: `From ${name}` })).conversation_id);
  }
  const [, ben = ""] = ids;
  const heading = page.locator(".conversation-header h2");
  const composer = page.locator(".composer-area");
  await page.goto(`${url}#/all/${ben}`);
  await composer.fill("We close at six.");
  // A conversation whose reply was not sent stays open.
  refuse(/messages$/);
  await page.getByRole("button", { name: "Send and close" }).press("Enter");
  await page.getByRole("button", { name: "Try again" }).waitFor();
  // The button can no longer be pressed, and must not take the focus along.
  await composer.and(page.locator(":focus")).waitFor();
  expect((await shop.conversations.get(ben)).status).toBe("open");
  refuse(undefined);
  await page.locator(".message").getByRole("button", { name: "Edit" }).click();
  await composer.press("Control+Shift+Enter");
  // The reply has moved it to the top of the list. The next one is that which was below it.
  await heading.getByText("Cleo").waitFor();
  expect((await shop.conversations.get(ben)).status).toBe("closed");
  const { data } = await shop.conversations.messages(ben);
  expect(data.filter(({ direction }) => direction === "outbound")).toMatchObject([
    { body: "We close at six." },
  ]);
  await page.keyboard.press("z");
  await expect.poll(async () => (await shop.conversations.get(ben)).status).toBe("open");
  await page.getByRole("button", { name: "Undo" }).waitFor({ state: "detached" });
  await page.keyboard.press("z");
  await page.keyboard.press("5");
  await page.getByText("Nothing is snoozed").waitFor();
  expect((await shop.conversations.get(ben)).status).toBe("open");
  expect(faults.filter((each) => !each.includes("503"))).toEqual([]);
});

longTest(
  "who writes on while a reply is sent and its conversation closed stays in it",
  async ({ skip }) => {
    const { shop, page, faults, id } = await openConversation(skip);
    const composer = page.locator(".composer-area");
    await composer.fill("We close at six.");
    const sent = await holdAnswers(page, /messages$/, { which: "writes" });
    await composer.press("Control+Shift+Enter");
    await sent.arrived;
    await page.keyboard.type("And one");
    await sent.release();
    await page.getByRole("button", { name: "Reopen" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.keyboard.type(" more thing");
    expect(await composer.inputValue()).toBe("And one more thing");
    expect((await shop.conversations.get(id)).status).toBe("closed");
    expect(faults).toEqual([]);
  },
);

longTest(
  "who undoes an assignment gives the conversation back to whom it was assigned before",
  async ({ skip }) => {
    const { shop, page, faults, id } = await openConversation(skip);
    await shop.conversations.assign(id, { type: "human", id: "lee" });
    await page.locator(".row", { hasText: "Lee Okafor" }).waitFor();
    const assignee = async () => (await shop.conversations.get(id)).assignee?.id;
    await page.keyboard.press("a");
    await page.getByRole("option", { name: "Kim Larsen" }).click();
    await expect.poll(assignee).toBe("kim");
    await page.getByText("Assigned to you", { exact: true }).waitFor();
    await page.keyboard.press("z");
    await expect.poll(assignee).toBe("lee");
    expect(faults).toEqual([]);
  },
);

longTest(
  "each of several conversations that were closed in a row can be opened again",
  async ({ skip }) => {
    const { shop, page, url } = await openInbox(skip);
    const ids = new Map<string, string>();
    for (const name of ["Cleo", "Ben"]) {
      const from = `+141555501${ids.size}0`;
      await shop.contacts.create({ phone: from, name });
      ids.set(name, (await shop.sandbox.inbound({ from, body: "Hello?" })).conversation_id);
    }
    const status = async (name: string) =>
      (await shop.conversations.get(ids.get(name) ?? "")).status;
    await page.goto(`${url}#/all/${ids.get("Ben")}`);
    for (const name of ["Ben", "Cleo"]) {
      await page.locator(".conversation-header h2", { hasText: name }).waitFor();
      await page.keyboard.press("e");
      await page.locator(".toast", { hasText: name }).waitFor();
    }
    for (const name of ["Cleo", "Ben"]) {
      expect(await status(name)).toBe("closed");
      await page.keyboard.press("z");
      await expect.poll(() => status(name)).toBe("open");
    }
  },
);

longTest(
  "who closes conversations in a row with the pointer on the list does not come back to a closed one",
  async ({ skip }) => {
    const { shop, page, url } = await openInbox(skip);
    const ids: string[] = [];
    for (const name of ["Cleo", "Ben", "Ann"]) {
      const from = `+141555501${ids.length}0`;
      await shop.contacts.create({ phone: from, name });
      ids.push((await shop.sandbox.inbound({ from, body: "Hello?" })).conversation_id);
    }
    await page.goto(`${url}#/all/${ids[0]}`);
    await page.locator(".row").first().hover();
    for (const name of ["Cleo", "Ben", "Ann"]) {
      await page.locator(".conversation-header h2", { hasText: name }).waitFor();
      await page.keyboard.press("e");
      await page.locator(".toast", { hasText: name }).waitFor();
    }
    await page.locator(".conversation-header").waitFor({ state: "detached" });
  },
);

longTest(
  "two failed messages that were discarded in a row can both be brought back",
  async ({ skip }) => {
    const { page, refuse } = await openConversation(skip);
    const composer = page.locator(".composer-area");
    const undo = page.getByRole("button", { name: "Undo" });
    refuse(/messages$/);
    for (const text of ["Until six.", "On Sunday too."]) {
      await composer.fill(text);
      await composer.press("Control+Enter");
      await page.getByRole("button", { name: "Try again" }).waitFor();
      await page.getByRole("button", { name: "Discard" }).click();
    }
    // They stay while the pointer is on them.
    await undo.first().hover();
    await undo.last().click();
    await undo.click();
    expect(await composer.inputValue()).toBe("Until six.\nOn Sunday too.");
  },
);

test("a reply is sent from its field, and not while the person types in another field or opens a link", async ({
  skip,
}) => {
  const { page, faults, id } = await openConversation(skip);
  const composer = page.locator(".composer-area");
  await composer.fill("It costs");
  const learned = page.getByRole("textbox", { name: "What you learned" });
  await learned.fill("Likes ferns");
  await learned.press("Control+Enter");
  // The tab itself does not open: under load, Chromium may take minutes for it.
  const opened = page.evaluate(`new Promise((resolve) => {
    let opened = "nothing";
    addEventListener("click", (event) => {
      if (event.ctrlKey && !event.defaultPrevented) opened = event.target.closest("a").hash;
      event.preventDefault();
    });
    addEventListener("keyup", ({ key }) => key === "Enter" && resolve(opened));
  })`);
  await page.locator(".row").press("Control+Enter");
  expect(await opened).toBe(`#/all/${id}`);
  await composer.press("End");
  await page.keyboard.type(" nothing.");
  await composer.press("Control+Enter");
  await page.locator(".message.is-out", { hasText: "It costs nothing." }).waitFor();
  expect(await page.locator(".message.is-out").count()).toBe(1);
  expect(faults).toEqual([]);
});

longTest(
  "Escape that cancels the text of an input method keeps the field, its text and its list",
  async ({ skip }) => {
    const { page, faults } = await openConversation(skip);
    await page.getByRole("toolbar", { name: "Actions" }).waitFor();
    const people = page.getByRole("combobox", { name: "Assign to" });
    const search = page.getByRole("searchbox");
    for (const field of [page.locator(".composer-area"), search, people]) {
      if (field === people) await page.keyboard.press("a");
      await field.fill("こんにちは");
      await page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {
      key: "Escape", isComposing: true, bubbles: true, cancelable: true }))`);
      expect(await field.inputValue()).toBe("こんにちは");
      await field.and(page.locator(":focus")).waitFor();
      await field.press("Escape");
    }
    await people.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  },
);

longTest(
  "shortcuts are letters also on a keyboard of another script, and with Caps Lock",
  async ({ skip }) => {
    const { page, faults } = await openConversation(skip);
    const list = page.getByRole("listbox");
    await page.getByRole("toolbar", { name: "Actions" }).waitFor();
    const press = (key: string, shiftKey = false): Promise<unknown> =>
      page.evaluate(`document.body.dispatchEvent(new KeyboardEvent("keydown",
      { key: "${key}", code: "KeyA", shiftKey: ${shiftKey}, bubbles: true, cancelable: true }))`);
    for (const key of ["a", "A", "ф", "ش"]) {
      await press(key);
      await list.waitFor();
      await page.keyboard.press("Escape");
      await list.waitFor({ state: "detached" });
    }
    // Some Latin keyboards have Q or À where others have A.
    await press("q");
    await press("à");
    await press("A", true);
    await press("Ф", true);
    expect(await list.count()).toBe(0);
    expect(faults).toEqual([]);
  },
);

longTest("a list that a shortcut opened leaves the focus where it was", async ({ skip }) => {
  const { shop, page, faults, id } = await openConversation(skip);
  await page.locator(".message").waitFor();
  const list = page.getByRole("listbox");
  for (const end of ["Escape", "Enter"]) {
    await page.keyboard.press("a");
    await list.waitFor();
    await page.keyboard.press(end);
    await list.waitFor({ state: "detached" });
    // One more Enter must not press the button that closes the conversation.
    expect([end, await page.evaluate("document.activeElement.tagName")]).toEqual([end, "BODY"]);
  }
  await expect
    .poll(async () => (await shop.conversations.get(id)).assignee)
    .toMatchObject({ id: "kim" });
  // If an element had the focus before, it has the focus again.
  const row = page.locator(".row");
  await row.focus();
  await page.keyboard.press("s");
  await list.waitFor();
  await page.getByRole("option", { name: "At a date and time" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await page.evaluate("document.activeElement.className")).toContain("row");
  expect(faults).toEqual([]);
});

longTest("a panel takes keys from the moment it is shown", async ({ skip }) => {
  const { page, faults } = await openConversation(skip);
  await page.locator(".message").waitFor();
  const active = (what: string) => page.evaluate(`document.activeElement.${what}`);
  await page.evaluate(openAndPress(`press("a")`, "Escape"));
  await page.getByRole("listbox").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "More actions" }).focus();
  await page.evaluate(openAndPress("document.activeElement.click()", "ArrowDown"));
  expect(await active("textContent")).toContain("Snooze");
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Filter" }).click();
  expect(await page.evaluate(focused)).toBe("Label");
  expect(faults).toEqual([]);
});

/** A script that opens a panel and presses a key before the page draws a frame. */
const openAndPress = (open: string, key: string): string => `(async () => {
  const press = (key) => {
    const options = { key, bubbles: true, cancelable: true };
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", options));
  };
  ${open};
  for (let i = 0; i < 100 && !document.querySelector(".popover"); i++) await undefined;
  if (!document.querySelector(".popover")) throw new Error("No panel has opened.");
  press(${JSON.stringify(key)});
})()`;

test("the list shows changes while a person uses the keyboard, and holds them back once the mouse moves", async ({
  skip,
}) => {
  const { shop, page, url, faults } = await openInbox(skip);
  const write = (body: string) => shop.sandbox.inbound({ from: `+1415555010${body.length}`, body });
  await write("One");
  await page.goto(url);
  const row = (hasText: string) => page.locator(".row", { hasText });
  await row("One").hover();
  await write("Three");
  const held = page.getByRole("button", { name: "1 change. Show it" });
  await held.waitFor();
  await page.keyboard.press("Shift");
  await page.keyboard.press("j");
  await row("Three").waitFor();
  await held.waitFor({ state: "detached" });
  await write("Eleven");
  await row("Eleven").waitFor();
  const { x = 0, y = 0 } = (await row("One").boundingBox()) ?? {};
  await page.mouse.move(x + 20, y + 20);
  await write("Nineteen");
  await held.waitFor();
  expect(faults).toEqual([]);
});
