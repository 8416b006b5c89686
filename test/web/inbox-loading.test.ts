/** What the inbox reads when it is opened. */
import { expect, test } from "vitest";
import { longTest } from "../support/runs.ts";
import { holdAnswers } from "./hold-answers.ts";
import { inboundText, openInbox } from "./shop-pages.ts";

longTest("the contact is shown however late the conversation comes", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const { conversation_id: id } = await inboundText(shop);
  const isCounted = Promise.withResolvers<void>();
  await page.route(`**/conversations/${id}`, async (route) => {
    await isCounted.promise;
    await route.continue();
  });
  // The list does not have it.
  await page.goto(`${url}#/closed/${id}`);
  await page.getByRole("link", { name: /^Waiting\s*1/ }).waitFor();
  // A later count would draw the page, too.
  await page.route(/conversations[?]limit=100/, () => {});
  isCounted.resolve();
  await page.locator(".facts", { hasText: "+1 415 555 0100" }).waitFor();
});

test("a page that is opened reads once what it shows, and follows the events after that", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip);
  const [id = "", other = ""] = await Promise.all(
    ["+14155550100", "+14155550101"].map(async (from) => {
      const { conversation_id } = await shop.sandbox.inbound({ from, body: "Hello?" });
      return conversation_id;
    }),
  );
  // The event of a conversation that is read by looking at it would have its notes read again.
  await shop.conversations.markRead(id);
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    // What is unread is counted again after each event.
    const isCount = search.includes("limit=100&") && pathname.endsWith("/conversations");
    const isOpened = pathname.includes("/v1/") && !pathname.includes(other) && !isCount;
    if (request.method() === "GET" && isOpened) asked.push(pathname + search);
  });
  await page.goto(`${url}#/all/${id}`);
  await page.locator(".entry", { hasText: "Hello?" }).waitFor();
  await page.locator(".facts", { hasText: "+1 415 555 0100" }).waitFor();
  await shop.sandbox.inbound({ from: "+14155550101", body: "Are you open?" });
  await page.locator(".row", { hasText: "Are you open?" }).waitFor();
  expect(asked.some((each) => each.includes("/events/stream"))).toBe(true);
  expect(asked.filter((each, index) => asked.indexOf(each) !== index)).toEqual([]);
});

longTest(
  "the counts stay those of the latest answer, though an earlier one comes after it",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const write = (from: string) => shop.sandbox.inbound({ from, body: "Hello?" });
    await write("+14155550100");
    const isCounted = Promise.withResolvers<void>();
    const answered: Promise<unknown>[] = [];
    await page.route(
      /conversations[?]limit=100&/,
      async (route) => {
        const response = await route.fetch();
        await isCounted.promise;
        answered.push(page.waitForResponse(route.request().url()));
        await route.fulfill({ response });
      },
      { times: 3 },
    );
    await page.goto(url);
    await page.locator(".row").waitFor();
    await write("+14155550101");
    const waiting = page.getByRole("link", { name: /^Waiting/ });
    await waiting.getByText("2").waitFor();
    isCounted.resolve();
    await expect.poll(() => answered.length).toBe(3);
    await Promise.all(answered);
    // The page has drawn what came.
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 200))");
    expect(await waiting.locator(".count").textContent()).toMatch(/^2 /);
  },
);

test("who begins to wait appears in the list of those who wait", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const write = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
  await page.goto(`${url}#/waiting`);
  await page.getByText("Nobody is waiting").waitFor();
  const { conversation_id: id } = await write("Hello?");
  const row = page.locator(".row");
  await row.getByText("Waits under a minute").waitFor();
  await shop.conversations.reply(id, { body: "Hello!", author_id: "lee" });
  await row.waitFor({ state: "detached" });
  await write("Are you open?");
  await row.getByText("Waits under a minute").waitFor();
});

longTest(
  "who begins to wait appears at the end of a long list, also when many do at once",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const write = (number: number) =>
      shop.sandbox.inbound({ from: `+1415555${2_000 + number}`, body: `Line ${number}` });
    for (let i = 0; i < 60; i++) await write(i);
    // Those who have waited longest come first.
    await page.goto(`${url}#/waiting`);
    const size = () => page.locator("[aria-setsize]").first().getAttribute("aria-setsize");
    await page.locator(".row").first().waitFor();
    await page.evaluate("document.querySelector('.virtual-list').scrollTop = 1e6");
    await expect.poll(size).toBe("60");
    await Promise.all(Array.from({ length: 25 }, (_, i) => write(60 + i)));
    await expect.poll(size).toBe("85");
  },
);

longTest(
  "an address that names another resource in the place of an id shows that there is nothing",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const { conversation_id: id, contact_id } = await inboundText(shop);
    await page.goto(`${url}#/all/${encodeURIComponent(`../contacts/${contact_id}`)}`);
    await page.getByText("This conversation does not exist").waitFor();
    await page.goto(`${url}#/contacts/${encodeURIComponent(`../conversations/${id}`)}`);
    await page.getByText("This contact does not exist").waitFor();
  },
);

longTest(
  "conversations that enter the middle of a long list appear there, also when many do at once",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const ids: string[] = [];
    for (let i = 0; i < 200; i++) {
      const from = `+1415555${2_000 + i}`;
      const { conversation_id } = await shop.sandbox.inbound({ from, body: `Line ${i}` });
      ids.push(conversation_id);
    }
    // Those with the latest activity come first.
    const late = ids.slice(100, 125);
    const close = (id: string) => shop.conversations.update(id, { status: "closed" });
    for (const id of ids.filter((each) => !late.includes(each))) await close(id);
    await page.goto(`${url}#/closed`);
    const size = () => page.locator("[aria-setsize]").first().getAttribute("aria-setsize");
    await page.locator(".row").first().waitFor();
    await page.evaluate("document.querySelector('.virtual-list').scrollTop = 1e6");
    await expect.poll(size).toBe("150");
    await Promise.all(late.map(close));
    await expect.poll(size).toBe("175");
  },
);

longTest.for([
  ["", 200],
  [", also while the server cannot answer", 503],
] as const)(
  "changes of many other conversations cost few requests%s",
  async ([, status], { skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const send = (i: number) => shop.sandbox.inbound({ from: `+1415555${2_000 + i}`, body: "Hi" });
    const { conversation_id: id } = await send(0);
    await shop.conversations.update(id, { status: "closed" });
    await page.goto(`${url}#/closed`);
    await page.locator(".row").waitFor();
    let asked = 0;
    // One conversation, or the first page of the list.
    await page.route(/v1[/]conversations([/]\w+$|[?].*limit=50\b)/, (route) => {
      asked += 1;
      const problem = { status, json: { status, retryable: true } };
      return status === 503 ? route.fulfill(problem) : route.continue();
    });
    await Promise.all(Array.from({ length: 60 }, (_, i) => send(i + 1)));
    // The counts come after the rows.
    await page.locator(".nav, nav", { hasText: "60" }).first().waitFor();
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThan(30);
  },
);

longTest("a scheduled message shows when its time came, once it has", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const from = "+14155550100";
  const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
  const send_at = new Date(Date.now() + 3_600_000).toISOString();
  const { id: later } = await shop.messages.send({ to: from, body: "A reminder", send_at });
  await page.goto(`${url}#/all/${id}`);
  await page.getByText("A reminder").first().waitFor();
  await shop.messages.edit(later, { send_at: new Date().toISOString() });
  await page.locator(".message.is-out[data-status=delivered]").waitFor();
  const { placed_at } = await shop.messages.get(later);
  expect(placed_at).not.toBeNull();
  const time = page.locator(".message.is-out time");
  expect(await time.getAttribute("datetime")).toBe(placed_at);
});

longTest("a thread has all notes of a conversation, however many there are", async ({ skip }) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const receive = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
  const { conversation_id: id } = await receive("First");
  await receive("Second");
  const notes = Array.from({ length: 230 }, (_, i) => `Note ${i}.`);
  for (const body of notes) await shop.conversations.addNote(id, { body });
  await receive("Last");
  await page.goto(`${url}#/all/${id}`);
  await page.locator(".entry", { hasText: "Last" }).waitFor();
  await page.locator(".entry", { hasText: "Note 229." }).waitFor();
  const start = page.locator(".thread", { hasText: "The beginning of the conversation" });
  // Nothing of what is still to be loaded may be missing between the entries.
  expect(await start.count()).toBe(0);
  await expect
    .poll(async () => {
      await page.evaluate("document.querySelector('.thread').scrollTop = 0");
      return start.count();
    })
    .toBe(1);
  const texts = await page.locator(".entry").allTextContents();
  const found = texts.map((text) => /First|Second|Last|Note \d+\./.exec(text)?.[0]);
  expect(found).toEqual(["First", "Second", ...notes, "Last"]);
  expect(faults).toEqual([]);
});

test("the parts of a contact stay in place when their content arrives", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const { conversation_id: id } = await inboundText(shop);
  const held = await holdAnswers(page, /v1\/contacts\/[^/]+\/[a-z]+/);
  await page.goto(`${url}#/all/${id}`);
  const titles = page.locator(".contact .section h3");
  await titles.filter({ hasText: "Data" }).waitFor();
  const places = () =>
    titles.evaluateAll((all) =>
      all.map((each) => [each.textContent, Math.round(each.getBoundingClientRect().top)]),
    );
  const before = await places();
  await held.release();
  await page.getByText("Not recorded").waitFor();
  await page.getByText("Nothing noted").waitFor();
  await page.getByText("No others").waitFor();
  await page.getByText("Score of the last message").waitFor();
  expect(await places()).toEqual(before);
});

test("a contact that was shown before is shown at once, as it is now, when it is opened again", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip);
  const { contact_id } = await inboundText(shop);
  await shop.contacts.update(contact_id, { email: "ann@example.com" });
  await shop.sandbox.inbound({ from: "+14155550101", body: "Are you open?" });
  await page.goto(url);
  const email = page.locator(".facts", { hasText: "ann@example.com" });
  await page.locator(".row", { hasText: "Hello?" }).click();
  await email.waitFor();
  await page.locator(".row", { hasText: "Are you open?" }).click();
  await page.locator(".facts", { hasText: "+1 415 555 0101" }).waitFor();
  await shop.contacts.update(contact_id, { name: "Ann", email: "ann@shop.example" });
  await page.locator(".row", { hasText: "Ann" }).waitFor();
  const held = await holdAnswers(page, `**/v1/contacts/${contact_id}`);
  await page.locator(".row", { hasText: "Hello?" }).click();
  await page.locator(".facts", { hasText: "ann@shop.example" }).waitFor();
  await shop.contacts.update(contact_id, { email: "ben@example.com" });
  await held.release();
  await page.locator(".facts", { hasText: "ben@example.com" }).waitFor();
});

test("the messages of a conversation that opens do not move after they are drawn", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip);
  const from = "+14155550100";
  const long = "I would like to know when my order comes. ".repeat(8);
  for (const body of [long, "Hello?", long, "Are you there?"]) {
    await shop.sandbox.inbound({ from, body });
  }
  await page.addInitScript(`
    window.moved = [];
    new PerformanceObserver((list) => {
      for (const { sources } of list.getEntries()) {
        for (const { node } of sources) if (node?.closest?.(".thread")) window.moved.push(node.className);
      }
    }).observe({ type: "layout-shift", buffered: true });
  `);
  await page.goto(url);
  await page.locator(".row", { hasText: "Are you there?" }).click();
  await page.locator(".entry", { hasText: "Are you there?" }).waitFor();
  await page.getByText("Not recorded").waitFor();
  await page.evaluate(`new Promise((resolve) => {
    let frames = 0;
    const next = () => (++frames < 10 ? requestAnimationFrame(next) : resolve());
    next();
  })`);
  expect(await page.evaluate("window.moved")).toEqual([]);
});
