/** What a person types and clicks while answers and events are on their way. */
import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { longTest } from "../support/runs.ts";
import { holdAnswers } from "./hold-answers.ts";
import { openConsole, openInbox } from "./shop-pages.ts";

const phone = "+14155550100";

/** Opens the console, with the phone of a test number. */
async function openPhone(skip: TestContext["skip"]) {
  const { shop, url, page } = await openConsole(skip);
  await page.goto(url);
  const handset = page.getByRole("region", { name: "Phone +15005550001" });
  return { shop, page, handset };
}

longTest(
  "what is typed on a phone while a text is on its way stays, and a lost answer doubles nothing",
  async ({ skip }) => {
    const { shop, page, handset } = await openPhone(skip);
    const field = handset.getByRole("textbox");
    const first = await holdAnswers(page, /sandbox\/inbound/, { which: "writes" });
    await field.fill("One");
    await field.press("Enter");
    await first.arrived;
    await field.pressSequentially("Two");
    await first.release();
    await handset.locator(".text", { hasText: "One" }).waitFor();
    await expect.poll(() => handset.locator("[aria-busy=true]").count()).toBe(0);
    expect(await field.inputValue()).toBe("Two");

    const second = await holdAnswers(page, /sandbox\/inbound/, { which: "writes" });
    await field.press("Enter");
    await second.arrived;
    await second.release("lost");
    await handset.getByRole("alert").waitFor();
    expect(await field.inputValue()).toBe("Two");
    await field.press("Enter");
    await expect.poll(() => field.inputValue()).toBe("");
    await expect.poll(() => handset.locator("[aria-busy=true]").count()).toBe(0);
    const { data } = await shop.messages.list({ direction: "inbound" });
    expect(data.map(({ body }) => body)).toEqual(["Two", "One"]);
  },
);

longTest(
  "a text from a phone stays on its screen while what was asked for before is answered",
  async ({ skip }) => {
    const { shop, page, handset } = await openPhone(skip);
    const write = (body: string) => shop.sandbox.inbound({ from: "+15005550001", body });
    await write("One");
    await handset.locator(".text", { hasText: "One" }).waitFor();
    // The answers stop at what the server had before the text.
    const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const answered = Promise.withResolvers<void>();
    let times = 0;
    await page.route(/v1\/messages\?/, async (route) => {
      const response = await route.fetch();
      asked[times]?.resolve();
      times++;
      if (times > 1) return;
      await answered.promise;
      await route.fulfill({ response });
    });
    await write("Two");
    await asked[0]?.promise;
    await handset.getByRole("textbox").fill("Three");
    await handset.getByRole("textbox").press("Enter");
    const own = handset.locator(".text", { hasText: "Three" });
    await own.waitFor();
    answered.resolve();
    await asked[1]?.promise;
    expect(await own.count()).toBe(1);
  },
);

longTest(
  "a text that was refused is sent once the reason is gone, without a change",
  async ({ skip }) => {
    const { shop, handset } = await openPhone(skip);
    const optedOut = handset.locator(".badge", { hasText: "Opted out" });
    const write = (body: string) => shop.sandbox.inbound({ from: "+15005550001", body });
    await write("STOP");
    await optedOut.waitFor();
    await handset.getByRole("button", { name: "Account" }).click();
    const field = handset.getByRole("textbox");
    await field.fill("Hello");
    await field.press("Enter");
    await handset.getByRole("alert").waitFor();
    await write("START");
    await optedOut.waitFor({ state: "detached" });
    await field.press("Enter");
    await handset.locator(".text", { hasText: "Hello" }).waitFor();
    expect(await handset.getByRole("alert").count()).toBe(0);
  },
);

longTest(
  "a note about a person is added once by a double click, and keeps what is typed next",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const { conversation_id: id, contact_id } = await shop.sandbox.inbound({
      from: phone,
      body: "Hi",
    });
    await page.goto(`${url}#/all/${id}`);
    const field = page.getByRole("textbox", { name: "What you learned" });
    const held = await holdAnswers(page, /observations/, { which: "writes" });
    await field.fill("Likes ferns");
    await page.getByRole("button", { name: "Add", exact: true }).dblclick();
    await held.arrived;
    await field.pressSequentially("Has a cat");
    await held.release();
    await page.locator(".observation", { hasText: "Likes ferns" }).waitFor();
    expect(await field.inputValue()).toBe("Has a cat");
    const { data } = await shop.contacts.observations(contact_id);
    expect(data.map(({ content }) => content)).toEqual(["Likes ferns"]);
  },
);

longTest(
  "the composer says at once that a contact opted out, and lets write when it opts in again",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const write = (body: string) => shop.sandbox.inbound({ from: phone, body });
    const { conversation_id: id } = await write("Hi");
    await page.goto(`${url}#/all/${id}`);
    await page.locator(".composer-area").fill("Hello");
    const send = page.locator(".composer").getByRole("button", { name: "Send", exact: true });
    const warning = page.locator(".composer .notice", { hasText: "has opted out" });
    await page.locator(".message", { hasText: "Hi" }).waitFor();
    await write("STOP");
    await warning.waitFor();
    expect(await send.isDisabled()).toBe(true);
    await write("START");
    await warning.waitFor({ state: "detached" });
    await expect.poll(() => send.isEnabled()).toBe(true);
  },
);

longTest("events leave what a person types into a filter of the inbox", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const write = (from: string) => shop.sandbox.inbound({ from, body: "Hello" });
  await write(phone);
  await page.goto(url);
  await page.locator(".row").first().waitFor();
  // Typed before the browser has painted the field, as on a slow machine.
  await page.evaluate(`(async () => {
    document.querySelector(".list-header button[aria-expanded]").click();
    await null;
    document.activeElement.value = "v";
    document.activeElement.dispatchEvent(new InputEvent("input", { bubbles: true }));
  })()`);
  const label = page.getByRole("textbox", { name: "Label" });
  await label.press("End");
  await label.pressSequentially("i");
  await write("+14155550101");
  await page.locator(".rail-place .count", { hasText: "2" }).first().waitFor();
  expect(await label.inputValue()).toBe("vi");
});

longTest(
  "a search leaves a person at the conversation that they opened after typing",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const { conversation_id: id } = await shop.sandbox.inbound({ from: phone, body: "Hello" });
    await page.goto(url);
    await page.locator(".row").waitFor();
    await page.getByRole("searchbox").fill("Hello");
    // At once: the search begins after a pause.
    await page.evaluate("document.querySelector('.row').click()");
    await expect.poll(() => page.url()).toContain("q=Hello");
    expect(page.url()).toContain(id);
  },
);

longTest("events leave what a person types into a filter of the console", async ({ skip }) => {
  const { shop, url, page } = await openConsole(skip);
  const write = (from: string) => shop.sandbox.inbound({ from, body: "Hello" });
  await write(phone);
  await page.goto(`${url}#/messages`);
  await page.getByText("Hello").first().waitFor();
  const to = page.getByRole("searchbox", { name: "To" });
  const number = "+14155550100";
  for (const [i, key] of Array.from(number).entries()) {
    await to.press(key);
    await write(`+1415555${String(2000 + i)}`);
  }
  await expect.poll(() => page.url()).toContain(encodeURIComponent(number));
});

/**
 * Lets the first write to a path reach the server only after the release, and after all requests
 * that the page has made until then.
 */
async function delayed(page: Page, path: RegExp) {
  const released = Promise.withResolvers<void>();
  let isFirst = true;
  await page.route(path, async (route) => {
    if (route.request().method() === "GET") return route.fallback();
    const waits = isFirst;
    isFirst = false;
    if (waits) await released.promise;
    await route.fallback();
  });
  return async (): Promise<void> => {
    await page.evaluate(async (url) => fetch(url), page.url());
    released.resolve();
  };
}

test("messages and changes reach the server in the order in which a person made them", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip);
  const { conversation_id: id } = await shop.sandbox.inbound({ from: phone, body: "Hi" });
  await page.goto(`${url}#/all/${id}`);
  const composer = page.locator(".composer-area");
  const releaseMessage = await delayed(page, /conversations\/[^/]+\/messages/);
  for (const text of ["One", "Two"]) {
    await composer.fill(text);
    await composer.press("Control+Enter");
    await page.locator(".message", { hasText: text }).waitFor();
  }
  await releaseMessage();
  await expect.poll(() => page.locator(".message[data-status=delivered]").count()).toBe(2);
  const { data } = await shop.messages.list({ direction: "outbound" });
  expect(data.map(({ body }) => body)).toEqual(["Two", "One"]);

  const releaseChange = await delayed(page, /conversations\/[^/]+$/);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: /^Snooze/ }).click();
  await page.getByRole("option", { name: "Tomorrow morning" }).click();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await releaseChange();
  await page.getByText("Conversation closed").first().waitFor();
  await expect.poll(async () => (await shop.conversations.get(id)).status).toBe("closed");
});

longTest("what speaks against a reply stays said while the person types on", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const { conversation_id: id } = await shop.sandbox.inbound({ from: phone, body: "STOP" });
  await page.goto(`${url}#/all/${id}`);
  const composer = page.locator(".composer");
  const warning = composer.locator(".notice", { hasText: "has opted out" });
  await warning.waitFor();
  // No answer comes to what is asked about the texts that follow.
  await page.route("**/messages/preview", () => {});
  for (const text of ["One", "One more"]) {
    const asked = page.waitForRequest("**/messages/preview");
    await composer.locator("textarea").fill(text);
    await asked;
  }
  expect(await warning.count()).toBe(1);
  expect(await composer.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
});

longTest("a filter keeps what a person types right after a pause", async ({ skip }) => {
  const { url, page } = await openConsole(skip);
  await page.clock.install();
  await page.goto(`${url}#/messages`);
  await page.getByText("No messages yet").waitFor();
  const to = page.getByRole("searchbox", { name: "To" });
  await page.clock.pauseAt(Date.now() + 3_600_000);
  await to.fill("+1415");
  // The pause is over before the next frame, and so is what the page does after one.
  await page.clock.runFor(360);
  await to.fill("+14155550100");
  await page.clock.runFor(10);
  expect(await to.inputValue()).toBe("+14155550100");
  await page.clock.runFor(1000);
  await expect.poll(() => page.url()).toContain(encodeURIComponent("+14155550100"));
});

longTest(
  "what is typed about a contact while an edit is saved stays, and is saved next",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const { contact_id } = await shop.sandbox.inbound({ from: phone, body: "Hi" });
    await page.goto(`${url}#/contacts/${contact_id}`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Name", { exact: true }).fill("Ann");
    const saving = await holdAnswers(page, /v1[/]contacts[/]\w+$/, { which: "writes" });
    const save = page.getByRole("button", { name: "Save" });
    await save.click();
    await saving.arrived;
    await page.getByLabel("Email").fill("ann@example.com");
    await saving.release();
    await page.getByText("Saved").waitFor();
    expect(await page.getByLabel("Email").inputValue()).toBe("ann@example.com");
    await save.click();
    await page.locator(".facts", { hasText: "ann@example.com" }).waitFor();
    expect(await shop.contacts.get(contact_id)).toMatchObject({
      name: "Ann",
      email: "ann@example.com",
    });
  },
);

longTest(
  "what a person saves or deletes does not bring them back from where they have gone meanwhile",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    const agent = await shop.agents.create({ name: "Bea", channels: ["sms"] });
    const webhook = await shop.webhooks.create({ url: "https://example.com/hook", events: ["*"] });
    /** Presses a button, and goes to the messages before the answer comes. */
    const leaveAfter = async (path: RegExp, press: () => Promise<void>, done: string) => {
      const { arrived, release } = await holdAnswers(page, path, { which: "writes" });
      await press();
      await arrived;
      await page.evaluate("location.hash = '#/messages'");
      await page.getByRole("heading", { level: 1, name: "Messages" }).waitFor();
      await release();
      await page.getByText(done).waitFor();
      expect(page.url()).toBe(`${url}#/messages`);
    };
    await page.goto(`${url}#/agents/${agent.id}/edit`);
    await page.getByLabel("Name", { exact: true }).fill("Bea Keller");
    const saveVersion = page.getByRole("button", { name: "Save as version 2" });
    await leaveAfter(/v1[/]agents[/]/, () => saveVersion.click(), "The agent is saved");
    await page.goto(`${url}#/agents/${agent.id}`);
    await page.getByRole("button", { name: "Delete Bea Keller" }).click();
    const confirm = page.getByRole("button", { name: "Delete", exact: true });
    await leaveAfter(/v1[/]agents[/]/, () => confirm.click(), "The agent is deleted");
    await page.goto(`${url}#/webhooks/${webhook.id}`);
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Delete webhook" }).click();
    await leaveAfter(/v1[/]webhooks[/]/, () => confirm.click(), "The webhook is deleted");
  },
);

test("a button shows that it works, and does once what a second click would do again", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  const webhook = await shop.webhooks.create({ url: "https://shop.example/hooks", events: ["*"] });
  const writes: unknown[] = [];
  page.on("request", (each) => each.method() === "PATCH" && writes.push(each.postDataJSON()));
  await page.goto(`${url}#/webhooks/${webhook.id}`);
  const pause = page.getByRole("button", { name: "Pause" });
  await pause.waitFor();
  const held = await holdAnswers(page, /v1[/]webhooks[/]/, { which: "writes" });
  await pause.dblclick();
  await held.arrived;
  expect(await pause.getAttribute("aria-busy")).toBe("true");
  await held.release();
  await page.getByRole("button", { name: "Enable" }).waitFor();
  expect(writes).toEqual([{ status: "paused" }]);
});

test("a secret is rotated once and a webhook deleted once, although the first answer was lost", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  const webhook = await shop.webhooks.create({ url: "https://shop.example/hooks", events: ["*"] });
  await page.goto(`${url}#/webhooks/${webhook.id}`);
  const dialog = page.getByRole("dialog");
  const loseFirst = async (item: string, confirm: string) => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: item }).click();
    const { arrived, release } = await holdAnswers(page, /v1[/]webhooks[/]/, { which: "writes" });
    const button = dialog.getByRole("button", { name: confirm });
    await button.click();
    await arrived;
    await release("lost");
    await dialog.getByText("The server does not respond.").waitFor();
    await button.click();
  };
  await loseFirst("Rotate secret", "Rotate");
  // The page does not rotate it again on its own: the programs that have the old one would fail.
  await dialog.getByText("cannot be shown again").waitFor();
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  const before = await page.evaluate("history.length");
  await loseFirst("Delete webhook", "Delete");
  await page.getByText("The webhook is deleted").waitFor();
  await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
  // Back would lead to what is gone.
  expect(await page.evaluate("history.length")).toBe(before);
});

test("an answer that comes after its dialog was closed leaves the dialog that is open then", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  const { id } = await shop.apiKeys.create({ name: "Till", scopes: ["messages:read"] });
  await page.goto(`${url}#/access/keys`);
  await page.getByRole("button", { name: "Actions of Till" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  const dialog = page.getByRole("dialog");
  const held = await holdAnswers(page, new RegExp(id), { which: "writes" });
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await held.arrived;
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create key" }).click();
  const name = dialog.getByRole("textbox", { name: "Name" });
  await name.fill("Kiosk");
  await held.release();
  await page.getByText("The key is revoked").waitFor();
  expect(await name.inputValue()).toBe("Kiosk");
});
