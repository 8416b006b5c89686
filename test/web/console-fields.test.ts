/** What the console makes of what a person types into its fields. */
import { expect, test } from "vitest";
import { longTest } from "../support/runs.ts";
import { openConsole } from "./shop-pages.ts";

longTest("a test number that is typed as it is shown is offered once", async ({ skip }) => {
  const { url, page } = await openConsole(skip);
  await page.goto(url);
  await page.locator(".test-number").first().waitFor();
  await page.getByRole("button", { name: "Add phone" }).click();
  const filter = page.getByRole("combobox");
  await filter.fill("+1 500 555 0003");
  expect(await page.getByRole("option").count()).toBe(1);
  await filter.fill("+1 500 555 9999");
  expect(await page.getByRole("option").allInnerTexts()).toEqual(["Add +1 500 555 9999"]);
});

longTest("a sender keeps its limit when what is typed for it is no number", async ({ skip }) => {
  const { shop, url, page } = await openConsole(skip);
  const sender = async () => (await shop.senders.list()).data[0] ?? expect.fail("No sender.");
  const { id, address } = await sender();
  await shop.senders.update(id, { messages_per_second: 2 });
  await page.goto(`${url}#/access/senders`);
  await page.getByRole("button", { name: `Actions of ${address}` }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  const rate = dialog.getByRole("textbox", { name: "Messages per second" });
  await rate.fill("0,5");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => dialog.getByText("must be a number").count()).toBe(1);
  expect(await rate.getAttribute("aria-invalid")).toBe("true");
  expect((await sender()).messages_per_second).toBe(2);

  await rate.fill(" ");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect.poll(async () => (await sender()).messages_per_second).toBeNull();
});

test("a dialog asks before it discards what a person entered, and Cancel does not", async ({
  skip,
}) => {
  const { url, page } = await openConsole(skip);
  await page.goto(`${url}#/webhooks`);
  const add = page.getByRole("button", { name: "Add webhook" });
  const dialog = page.getByRole("dialog");
  const address = dialog.getByRole("textbox", { name: "Address" });
  const question = dialog.getByText("Discard what you entered?");
  const button = (name: string) => dialog.getByRole("button", { name });
  const dismissals = [
    () => page.keyboard.press("Escape"),
    () => page.mouse.click(5, 5),
    () => button("Close").click(),
  ];
  for (const dismiss of dismissals) {
    await add.click();
    await dismiss();
    await dialog.waitFor({ state: "detached" });

    await add.click();
    await address.fill("https://example.com/hooks");
    await dismiss();
    await question.waitFor();
    await page.locator("button:focus", { hasText: "Keep editing" }).waitFor();
    // Chromium itself closes a dialog at the second of two such keys, unless the page handles them.
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    expect(await address.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await address.inputValue()).toBe("https://example.com/hooks");

    await dismiss();
    await button("Discard").click();
    await dialog.waitFor({ state: "detached" });
  }
  await add.click();
  expect(await address.inputValue()).toBe("");
  await page.getByRole("checkbox", { name: /^All,/ }).uncheck();
  await page.keyboard.press("Escape");
  await question.waitFor();
  // Whoever goes on typing has answered.
  await address.fill("https://example.com");
  await question.waitFor({ state: "detached" });
  await button("Cancel").click();
  await dialog.waitFor({ state: "detached" });
});

test("a changed dialog stays while its Escape key is held, and through Back and Reload until its person agrees", async ({
  skip,
}) => {
  const { url, page } = await openConsole(skip);
  await page.goto(`${url}#/events`);
  await page.goto(`${url}#/webhooks`);
  const dialog = page.getByRole("dialog");
  const address = dialog.getByRole("textbox", { name: "Address" });
  const question = dialog.getByText("Discard what you entered?");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.goBack();
  await dialog.waitFor({ state: "detached" });
  expect(page.url()).toBe(`${url}#/events`);

  await page.goForward();
  await page.getByRole("button", { name: "Add webhook" }).click();
  await address.fill("https://example.com/hooks");
  for (let held = 0; held < 4; held++) await page.keyboard.down("Escape");
  await page.keyboard.up("Escape");
  await question.waitFor();
  await dialog.getByRole("button", { name: "Keep editing" }).click();

  const asked = page.waitForEvent("dialog");
  const reload = page.evaluate("location.reload()").catch(() => {});
  const warning = await asked;
  expect(warning.type()).toBe("beforeunload");
  await warning.dismiss().catch(() => {});
  await reload;
  expect(await address.inputValue()).toBe("https://example.com/hooks");

  await page.evaluate("history.back()");
  await question.waitFor();
  expect(page.url()).toBe(`${url}#/webhooks`);
  await dialog.getByRole("button", { name: "Keep editing" }).click();
  expect(await address.inputValue()).toBe("https://example.com/hooks");
  // Both are on their way before the page hears of the first.
  await page.evaluate(`location.hash = "#/messages"; location.hash = "#/events"`);
  await question.waitFor();
  await expect.poll(() => page.url()).toBe(`${url}#/webhooks`);
  await dialog.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
  expect(page.url()).toBe(`${url}#/events`);
});

test("a secret that is shown once stays through Escape, a click beside it, Back and Reload", async ({
  skip,
}) => {
  const { url, page } = await openConsole(skip);
  await page.goto(`${url}#/events`);
  await page.goto(`${url}#/access/keys`);
  const dialog = page.getByRole("dialog");
  const secret = dialog.locator(".secret");
  await page.getByRole("button", { name: "Create key" }).click();
  await dialog.getByRole("textbox", { name: "Name" }).fill("Till");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await secret.waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await page.evaluate(
    `new Promise((done) => {
      addEventListener("hashchange", () => done(), { once: true });
      history.back();
    })`,
  );
  expect(page.url()).toBe(`${url}#/access/keys`);
  const asked = page.waitForEvent("dialog");
  const reload = page.evaluate("location.reload()").catch(() => {});
  await (await asked).dismiss().catch(() => {});
  await reload;
  expect(await secret.innerText()).toMatch(/^tdg_/);

  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("Till").waitFor();
  await page.evaluate("history.back()");
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
});

test("Cancel of a form of an agent asks before it discards a draft", async ({ skip }) => {
  const { url, page } = await openConsole(skip);
  await page.goto(`${url}#/agents/new`);
  const name = page.getByRole("textbox", { name: "Name", exact: true });
  const cancel = page.getByRole("button", { name: "Cancel" });
  await name.fill("Ada");
  await cancel.click();
  await page.getByRole("button", { name: "Keep editing" }).click();
  // The person goes on where they were.
  await page.keyboard.type(" Lovelace");
  expect(await name.inputValue()).toBe("Ada Lovelace");
  await cancel.click();
  await page.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await page.goto(`${url}#/agents/new`);
  await name.waitFor();
  expect(await name.inputValue()).toBe("");
  // Nothing would be lost.
  await cancel.click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
});

test("the API page sends what its form and its command show, and keeps what a person entered", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  const { id } = await shop.contacts.create({ name: "Ada" });
  const form = page.locator(".operation");
  const field = (name: string) => form.getByRole("textbox", { name });
  await page.goto(`${url}#/api/contactsUpdate`);
  await field("id").fill(id);
  await field("Request body").fill('{"name":"Bea"}');
  // The person looks something up on another page.
  await page.goto(`${url}#/messages`);
  await page.getByRole("heading", { name: "Messages", level: 1 }).waitFor();
  await page.goBack();
  expect(await field("id").inputValue()).toBe(id);
  await form.getByRole("button", { name: "Send" }).click();
  await form.getByText("200").waitFor();
  expect((await shop.contacts.get(id)).name).toBe("Bea");

  await page.goto(`${url}#/api/contactsErase`);
  const command = form.locator(".code").first();
  const send = async () => {
    const answered = page.waitForResponse((each) => each.request().method() === "DELETE");
    await form.getByRole("button", { name: "Send" }).click();
    const response = await answered;
    return [response.request().postData(), response.status()];
  };
  await field("id").fill(id);
  expect(await send()).toEqual([null, 204]);
  const keyed = '{"idempotency_key":"erase-ada"}';
  await field("Request body").fill(keyed);
  expect(await command.innerText()).toContain(keyed);
  expect(await send()).toEqual([keyed, 404]);
});

test("a finger beside a dialog closes it and nothing else, and a mouse that selects its text does not", async ({
  skip,
}) => {
  const { url, page } = await openConsole(skip);
  await page.goto(`${url}#/webhooks`);
  const add = page.getByRole("button", { name: "Add webhook" });
  const dialog = page.getByRole("dialog");
  const link = page.getByRole("link", { name: "Overview" });
  const center = async (of: typeof link) => {
    const { x, y, width, height } = (await of.boundingBox()) ?? expect.fail("It is not shown.");
    return { x: x + width / 2, y: y + height / 2 };
  };
  await add.click();
  const text = await center(dialog.getByRole("heading"));
  const beside = await center(link);
  await page.mouse.move(text.x, text.y);
  await page.mouse.down();
  await page.mouse.move(beside.x, beside.y);
  await page.mouse.up();
  expect(await dialog.isVisible()).toBe(true);

  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [beside] });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await dialog.waitFor({ state: "detached" });
  // What the finger would click comes before this.
  await add.click();
  await dialog.waitFor();
  expect(page.url()).toContain("#/webhooks");
});

test("what is typed on a phone is there again after a look at another page", async ({ skip }) => {
  const { url, page } = await openConsole(skip);
  const field = page.getByRole("textbox", { name: "Send to +15005550001" });
  await page.goto(`${url}#/phones`);
  // It stays a message of the account.
  await page.getByRole("button", { name: "Account" }).first().click();
  await field.fill("Are you open tomor");
  await page.goto(`${url}#/messages`);
  await page.getByRole("heading", { name: "Messages", level: 1 }).waitFor();
  await page.goBack();
  await field.waitFor();
  expect(await field.inputValue()).toBe("Are you open tomor");
});

test("the key of the search moves the focus to it, and a page without a search leaves the key to the browser", async ({
  skip,
}) => {
  const { url, page } = await openConsole(skip);
  const show = async (place: string, heading: string): Promise<void> => {
    await page.goto(`${url}${place}`);
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
  };
  await page.addInitScript(
    `addEventListener("keydown", (event) => { document.title = String(event.defaultPrevented); });`,
  );
  const press = async (): Promise<string> => {
    await page.keyboard.press("/");
    return page.title();
  };
  for (const [place, heading] of [
    ["#/messages", "Messages"],
    ["#/access/consent", "Access"],
  ] as const) {
    await show(place, heading);
    await page.locator("input[type=search]").waitFor();
    expect(await press()).toBe("true");
    await page.locator("input[type=search]:focus").waitFor();
  }
  await show("#/webhooks", "Webhooks");
  expect(await press()).toBe("false");
});
