/** What open pages keep of a contact that somebody erases elsewhere: nothing. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { cases, longTest } from "../support/runs.ts";
import { newTab, openConsole, openInbox } from "./shop-pages.ts";

const textOf = (page: Page): Promise<string> => page.evaluate("document.body.innerText");

test("an erased contact leaves the list, the search and the conversation that a colleague reads", async ({
  skip,
}) => {
  const { shop, url, context, page, faults } = await openInbox(skip);
  const { page: searching } = await newTab(context);
  await shop.contacts.create({ phone: "+15005550001", name: "Ann Keller" });
  const { conversation_id, contact_id } = await shop.sandbox.inbound({
    from: "+15005550001",
    body: "I like kumquats.",
  });
  await shop.sandbox.inbound({ from: "+15005550002", body: "Hello" });
  await page.goto(`${url}#/mine/${conversation_id}`);
  await page.locator(".message", { hasText: "kumquats" }).waitFor();
  await page.locator(".contact", { hasText: "Ann Keller" }).waitFor();
  await page.goto(`${url}#/all/${conversation_id}`);
  // The server refuses to preview a message to a contact that is erased.
  const previewed = page.waitForResponse(
    (response) => response.request().postData()?.includes("Dear Ann") === true,
  );
  await page.locator(".composer-area").fill("Dear Ann Keller");
  await previewed;
  await searching.goto(`${url}#/all?q=kumquats`);
  await searching.locator(".row", { hasText: "kumquats" }).waitFor();

  await shop.contacts.erase(contact_id);

  await page.getByText("The contact was erased.").waitFor();
  await page.locator(".row", { hasText: "Hello" }).waitFor();
  await expect.poll(() => page.url()).toBe(`${url}#/all`);
  for (const each of [page, searching]) {
    await expect.poll(() => textOf(each)).not.toMatch(/kumquats|Keller/);
  }
  // What was typed is gone as well.
  expect(await page.evaluate<string>("JSON.stringify({ ...localStorage })")).not.toContain(
    "Keller",
  );
  expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
});

longTest(
  "an erased contact leaves all pages that get no events, once these are read again",
  async ({ skip }) => {
    const { shop, url, stop, restart, context } = await openInbox(skip, {
      without: ["events:read"],
    });
    const receive = (from: string, body: string) => shop.sandbox.inbound({ from, body });
    await shop.contacts.create({ phone: "+15005550001", name: "Ann Keller" });
    const { conversation_id, contact_id } = await receive("+15005550001", "I like kumquats.");
    await receive("+15005550002", "Hello");
    const places = [
      "all",
      `all/${conversation_id}`,
      "all?q=keller",
      "contacts",
      `contacts/${contact_id}`,
      "contacts?q=keller",
    ];
    const pages: Page[] = [];
    for (const place of places) {
      const { page } = await newTab(context);
      await page.goto(`${url}#/${place}`);
      await page.locator(".row", { hasText: /kumquats|Keller/ }).waitFor();
      pages.push(page);
    }
    await shop.contacts.erase(contact_id);
    // A request of each page fails, and then the server is back.
    stop();
    for (const page of pages) {
      await page.locator(".row").first().press("Enter");
      await page.locator(".banner").waitFor();
    }
    restart();
    for (const page of pages) {
      await expect.poll(() => textOf(page)).not.toMatch(/kumquats|Keller/);
    }
  },
);

longTest(
  "the place of an erased conversation says that it loads until the server has said that it is gone",
  async ({ skip }) => {
    const { shop, url, stop, restart, page } = await openInbox(skip, { without: ["events:read"] });
    const from = "+15005550001";
    const { contact_id, conversation_id } = await shop.sandbox.inbound({ from, body: "Hello" });
    await page.goto(`${url}#/all/${conversation_id}`);
    await page.locator(".message").waitFor();
    await shop.contacts.erase(contact_id);
    const answered = Promise.withResolvers<void>();
    let reads = 0;
    await page.route(`**/v1/conversations/${conversation_id}`, async (route) => {
      reads += 1;
      if (reads > 1) await answered.promise;
      await route.continue();
    });
    stop();
    await page.keyboard.press("/");
    await page.keyboard.type("hello");
    await page.locator(".banner").waitFor();
    restart();
    const pane = page.getByRole("region", { name: "Conversation" });
    await pane.getByRole("status", { name: "Loading" }).waitFor();
    answered.resolve();
    await pane.getByText("This conversation does not exist").waitFor();
  },
);

test("what was typed to and about a contact that is erased leaves the browser, even without an event", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip, { without: ["events:read"] });
  const stored = () => page.evaluate<string>("JSON.stringify({ ...localStorage })");
  const other = await shop.sandbox.inbound({ from: "+15005550002", body: "Hello" });
  const typeAt = async (place: string, field: string, text: string) => {
    await page.goto(`${url}#/${place}`);
    await page.getByRole("textbox", { name: field }).fill(text);
    await expect.poll(stored).toContain(text);
  };
  // Each of these places alone tells the page of the erasure. So does the next visit.
  const places = ["contact", "conversation", "list"] as const;
  for (const place of cases(places, (each) => each === "conversation")) {
    const erased = await shop.sandbox.inbound({ from: "+15005550001", body: "Hello" });
    const { contact_id: id, conversation_id } = erased;
    await typeAt(`all/${other.conversation_id}`, "Reply to", "Bananas are here");
    await typeAt(`all/${conversation_id}`, "Reply to", "Kumquats are here");
    await typeAt(`contacts/${id}`, "What you learned", "Likes kumquats");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Kumquat Keller");
    await page.goto("about:blank");
    if (place === "list") {
      await shop.contacts.erase(id);
      await page.goto(url);
    } else {
      await page.goto(`${url}#/all`);
      await page.locator(".row").first().waitFor();
      await shop.contacts.erase(id);
      const name = place === "contact" ? `contacts/${id}` : `all/${conversation_id}`;
      await page.evaluate(`location.hash = "#/${name}"`);
      await page.getByText("does not exist").waitFor();
    }
    await expect.poll(stored).not.toMatch(/kumquat/i);
    expect(await stored()).toContain("Bananas");
  }
});

longTest(
  "drafts wait while the server fails, and those of erased contacts go when it is back",
  async ({ skip }) => {
    const { shop, url, stop, restart, page } = await openInbox(skip, { without: ["events:read"] });
    const { account_id, mode } = shop.scope;
    const { conversation_id } = await shop.sandbox.inbound({ from: "+15005550002", body: "Hello" });
    await page.goto(url);
    // By then, the page has looked for drafts.
    await page.locator(".row").waitFor();
    const drafts = Object.entries({
      conv_erased1: "Kumquats",
      conv_erased2: "Kumquats",
      [conversation_id]: "Bananas",
    }).map(([id, body]) => [
      `tidings:draft:${account_id}:${mode}:kim:${id}`,
      JSON.stringify({ reply: { body } }),
    ]);
    await page.evaluate(
      `Object.assign(localStorage, ${JSON.stringify(Object.fromEntries(drafts))})`,
    );
    const stored = () => page.evaluate<string>("JSON.stringify({ ...localStorage })");
    const ofDraft = new RegExp(`/v1/conversations/(conv_erased.|${conversation_id})$`);
    const sentAt: number[] = [];
    page.on("requestfinished", (request) => {
      if (ofDraft.test(request.url())) sentAt.push(request.timing().startTime);
    });
    await page.route(ofDraft, (route) => route.fulfill({ status: 503 }));
    await page.reload();
    await page.locator(".row").waitFor();
    await page.waitForLoadState("networkidle");
    expect(sentAt).toHaveLength(1);
    expect(await stored()).toMatch(/Kumquats.*Kumquats/);

    await page.unroute(ofDraft);
    stop();
    await page.keyboard.press("/");
    await page.keyboard.type("hello");
    await page.locator(".banner").waitFor();
    sentAt.length = 0;
    restart();
    await expect.poll(stored).not.toContain("Kumquats");
    await expect.poll(() => sentAt).toHaveLength(3);
    expect(await stored()).toContain("Bananas");
    // What the person does meanwhile is not slowed by the limit on requests.
    const pauses = sentAt.slice(1).map((at, i) => at - (sentAt[i] ?? 0));
    for (const pause of pauses) expect(pause).toBeGreaterThan(95);
  },
);

longTest(
  "an erased contact leaves the console's tail and messages, also while the tail is paused",
  async ({ skip }) => {
    const { shop, url, context, page: tail } = await openConsole(skip);
    const { page: messages } = await newTab(context);
    await tail.goto(`${url}#/events`);
    await tail.getByRole("status").getByText("Live").waitFor();
    const { contact_id } = await shop.sandbox.inbound({ from: "+15005550001", body: "Kumquats" });
    await shop.sandbox.inbound({ from: "+15005550002", body: "Hello" });
    await messages.goto(`${url}#/messages`);
    for (const each of [tail, messages]) await each.getByText("Kumquats").first().waitFor();
    await tail.getByRole("button", { name: "Pause" }).click();

    await shop.contacts.erase(contact_id);

    for (const each of [tail, messages]) {
      await expect.poll(() => textOf(each)).not.toMatch(/Kumquats|5005550001/);
      await each.getByText("Hello").first().waitFor();
    }
  },
);

test("an erased contact leaves the phone, the message, the event and the consent that the console shows", async ({
  skip,
}) => {
  const { shop, url, context, page: phones } = await openConsole(skip);
  const from = "+15005550001";
  await shop.contacts.create({ phone: from, name: "Ann Keller" });
  const { id, contact_id } = await shop.sandbox.inbound({ from, body: "STOP kumquats" });
  const { page: message } = await newTab(context);
  const { page: event } = await newTab(context);
  const { page: consent } = await newTab(context);
  await phones.goto(`${url}#/phones`);
  await message.goto(`${url}#/messages/${id}`);
  const { data: events } = await shop.events.list({ type: "message.received" });
  await event.goto(`${url}#/events/${events[0]?.id}`);
  for (const each of [phones, message, event]) await each.getByText("kumquats").first().waitFor();
  await consent.goto(`${url}#/access/consent/${contact_id}`);
  await consent.getByRole("region", { name: from }).waitFor();

  await shop.contacts.erase(contact_id);

  await expect.poll(() => textOf(phones)).not.toMatch(/kumquats|Keller/);
  for (const each of [message, event, consent]) {
    await expect.poll(() => textOf(each)).not.toMatch(/kumquats|Keller|500 ?555 ?0001/);
  }
});

longTest(
  "an erased contact leaves a message that gets no events, once it is read again",
  async ({ skip }) => {
    const { shop, url, stop, restart, page } = await openConsole(skip, {
      without: ["events:read"],
    });
    const to = "+15005550001";
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const { id, contact_id } = await shop.messages.send({
      to,
      body: "Here are kumquats.",
      send_at,
    });
    await page.goto(`${url}#/messages/${id}`);
    await page.getByText("kumquats").first().waitFor();
    await shop.contacts.erase(contact_id);
    // A request of the page fails, and then the server is back.
    await page.getByRole("button", { name: "Cancel the message" }).click();
    stop();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the message" }).click();
    await page.locator(".banner").waitFor();
    restart();
    await page.getByText("The contact of this message was erased").waitFor();
    expect(await textOf(page)).not.toContain("kumquats");
  },
);
