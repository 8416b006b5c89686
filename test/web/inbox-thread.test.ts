/** The messages of an open conversation during and after an outage. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { openConversation, openInbox } from "./shop-pages.ts";

longTest(
  "a thread has no gap after an outage in which more came than a page has",
  async ({ skip }) => {
    const { shop, url, stop, restart, page } = await openInbox(skip);
    const receive = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
    const { conversation_id } = await receive("First");
    // On a slow machine, what waits for the next frame comes late.
    await page.addInitScript(`{
    const { setTimeout: later } = window;
    window.requestAnimationFrame = (draw) => later(draw, 1000);
    window.setTimeout = (run, ms) => later(run, ms > 0 && ms < 100 ? 1000 : ms);
  }`);
    await page.goto(`${url}#/all/${conversation_id}`);
    await page.locator(".message", { hasText: "First" }).waitFor();
    await receive("Before");
    await page.locator(".message", { hasText: "Before" }).waitFor();
    stop();
    const missed = Array.from({ length: 60 }, (_, i) => `Missed ${i}`);
    for (const body of missed) await receive(body);
    restart();
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.locator(".message", { hasText: "Missed 59" }).waitFor();
    const shown = async (): Promise<string> =>
      (await page.locator(".message").allTextContents()).join(" ");
    expect(await shown()).not.toContain("Before");
    // What was missed is read by scrolling.
    await page.locator(".message").first().scrollIntoViewIfNeeded();
    await page.locator(".message", { hasText: "Missed 0" }).waitFor();
    await page.locator(".message").first().scrollIntoViewIfNeeded();
    await page.locator(".message", { hasText: "Before" }).waitFor();
    for (const body of missed) expect(await shown()).toContain(body);
  },
);

longTest(
  "a thread has no gap if a reader scrolled back while the missed messages were read",
  async ({ skip }) => {
    const { shop, url, stop, restart, page } = await openInbox(skip);
    const receive = async (name: string, count: number): Promise<string> => {
      let id = "";
      for (let i = 0; i < count; i++) {
        const body = `${name} ${i}`;
        id = (await shop.sandbox.inbound({ from: "+14155550100", body })).conversation_id;
      }
      return id;
    };
    const scrollUp = () => page.evaluate("document.querySelector('.thread').scrollTop = 0");
    const id = await receive("Before", 90);
    await page.goto(`${url}#/all/${id}`);
    await page.locator(".message", { hasText: "Before 89" }).waitFor();
    // The page of older messages comes only after what was missed.
    const scrolled = Promise.withResolvers<void>();
    const missed = Promise.withResolvers<void>();
    await page.route(
      /\/messages\?.*cursor=/,
      async (route) => {
        const response = await route.fetch();
        scrolled.resolve();
        await missed.promise;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await page.route(/\/messages\?limit=40$/, async (route) => {
      await scrolled.promise;
      await route.continue();
    });
    stop();
    await receive("Missed", 60);
    restart();
    const reading = page.waitForRequest(/\/messages\?limit=40$/);
    await page.evaluate("dispatchEvent(new Event('online'))");
    await reading;
    await scrollUp();
    await scrolled.promise;
    await page.locator(".message", { hasText: "Missed 30" }).waitFor();
    const older = page.waitForResponse(/\/messages\?.*cursor=/);
    missed.resolve();
    await older;
    // The reader is still at the top, and need not scroll again.
    await page.locator(".message", { hasText: "Missed 0" }).waitFor();
    const shown = async (): Promise<string> =>
      (await page.locator(".message").allTextContents()).join(" ");
    const start = page.locator(".thread", { hasText: "The beginning of the conversation" });
    await expect
      .poll(async () => {
        await scrollUp();
        return start.count();
      })
      .toBe(1);
    for (const [name, count] of [
      ["Before", 90],
      ["Missed", 60],
    ] as const) {
      for (let i = 0; i < count; i++) expect(await shown()).toContain(`${name} ${i}`);
    }
  },
);

longTest(
  "a message that is drawn before the event of a reader's scrolling does not scroll back",
  async ({ skip }) => {
    const { shop, url, page, faults } = await openInbox(skip);
    const receive = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
    for (let i = 0; i < 60; i++) await receive(`Line ${i}`);
    const { conversation_id: id } = await receive("The last line");
    await page.goto(`${url}#/all/${id}`);
    const isAt = (place: "0" | "end") =>
      page.waitForFunction(`(() => {
      const box = document.querySelector(".thread");
      const end = box.scrollHeight - box.clientHeight;
      return end > 0 && Math.abs(box.scrollTop - (${place === "0" ? "0" : "end"})) < 2;
    })()`);
    await page.locator(".message", { hasText: "The last line" }).waitFor();
    await isAt("end");
    await receive("Followed");
    await page.locator(".message", { hasText: "Followed" }).waitFor();
    await isAt("end");
    // No event of scrolling reaches the page, however soon the message does.
    await page.evaluate(`addEventListener("scroll", (event) => event.stopPropagation(), true);
    document.querySelector(".thread").scrollTop = 0`);
    await receive("Not followed");
    await page.locator(".message", { hasText: "Not followed" }).waitFor();
    await page.getByRole("button", { name: "1 new message" }).waitFor();
    const { top, end } = await page.evaluate<{ top: number; end: number }>(`(() => {
    const { scrollTop, scrollHeight, clientHeight } = document.querySelector(".thread");
    return { top: scrollTop, end: scrollHeight - clientHeight };
  })()`);
    expect(end - top).toBeGreaterThan(500);
    expect(faults).toEqual([]);
  },
);

longTest("what a reader sees moves only as far as they scroll", async ({ skip }) => {
  const { shop, url, page, faults } = await openInbox(skip);
  let id = "";
  for (let i = 0; i < 90; i++) {
    const body = i % 7 === 0 ? "A long message. ".repeat(40) : `Short ${i}`;
    id = (await shop.sandbox.inbound({ from: "+14155550100", body })).conversation_id;
  }
  await page.goto(`${url}#/all/${id}`);
  await page.locator(".message-text", { hasText: "Short 89" }).waitFor();
  const { steps, wrong } = await page.evaluate<{ steps: number; wrong: number[] }>(scrollBack);
  expect(steps).toBeGreaterThan(30);
  expect(wrong).toEqual([]);
  expect(faults).toEqual([]);
});

/** A script that scrolls an element to its top, and waits until the page knows. */
const scrollToTop = (selector: string): string => `new Promise((resolve) => {
  const box = document.querySelector(${JSON.stringify(selector)});
  box.addEventListener("scroll", () => requestAnimationFrame(resolve), { once: true });
  box.scrollTop = 0;
})`;

/** Scrolls back to the beginning in steps, and returns the steps by which the entries moved wrongly. */
const scrollBack = `(async () => {
  const box = document.querySelector(".thread");
  const { top, height } = box.getBoundingClientRect();
  const end = (entry) => entry.getBoundingClientRect().bottom;
  const inSight = () => [...box.querySelectorAll(".entry")].find((each) => end(each) > top + height / 2);
  const frame = () => new Promise(requestAnimationFrame);
  const isDone = () => box.scrollTop === 0 && box.innerText.includes("The beginning of the conversation");
  const wrong = [];
  let steps = 0;
  for (let i = 0; i < 20_000 && !isDone(); i++) {
    const entry = inSight();
    const before = end(entry);
    const by = Math.min(100, box.scrollTop);
    // The page knows of the scroll once it has the event.
    const scrolled = new Promise((resolve) => box.addEventListener("scroll", resolve, { once: true }));
    box.scrollTop -= by;
    if (by > 0) await scrolled;
    await frame();
    await frame();
    const moved = end(entry) - before;
    if (by > 0) steps++;
    if (Math.abs(moved - by) > 2) wrong.push(moved);
  }
  return { steps, wrong };
})()`;

longTest(
  "a key that is typed measures nothing and draws no message, wherever the reader is",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    let id = "";
    for (let i = 0; i < 30; i++) {
      const body = "A long message. ".repeat(10);
      id = (await shop.sandbox.inbound({ from: "+14155550100", body })).conversation_id;
    }
    await page.goto(`${url}#/all/${id}`);
    await page.locator(".thread", { hasText: "The beginning of the conversation" }).waitFor();
    await page.evaluate(scrollToTop(".thread"));
    const composer = page.locator(".composer-area");
    const previewed = page.waitForResponse(/\/preview$/);
    await composer.fill("Hel");
    await previewed;
    await page.evaluate(countWork);
    await composer.pressSequentially("lo");
    expect(await composer.inputValue()).toBe("Hello");
    expect(await page.evaluate("measured")).toBe(0);
    // Rows of the list may be drawn meanwhile.
    expect(await page.evaluate("formatted")).toBeLessThan(30);
  },
);

longTest("older messages are drawn without those that are there already", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  let id = "";
  for (let i = 0; i < 130; i++) {
    id = (await shop.sandbox.inbound({ from: "+14155550100", body: `Message ${i}` }))
      .conversation_id;
  }
  await page.goto(`${url}#/all/${id}`);
  const entries = page.locator(".entry");
  await expect.poll(() => entries.count()).toBe(40);
  await page.locator(".row.is-unread").waitFor({ state: "detached" });
  await page.evaluate(countWork);
  const formatted: number[] = [];
  for (const count of [80, 120]) {
    await page.evaluate("window.formatted = 0");
    await page.evaluate(scrollToTop(".thread"));
    await expect.poll(() => entries.count()).toBe(count);
    formatted.push(await page.evaluate<number>("formatted"));
  }
  const [second = 0, third = 0] = formatted;
  expect(second).toBeGreaterThan(0);
  expect(third).toBeLessThan(second + 20);
});

/** A script that counts what is measured of entries and fields, and the times that are drawn. */
const countWork = `{
  window.measured = 0;
  window.formatted = 0;
  const { getBoundingClientRect } = Element.prototype;
  Element.prototype.getBoundingClientRect = function () {
    if (this.matches(".entry")) measured++;
    return getBoundingClientRect.call(this);
  };
  const { get } = Object.getOwnPropertyDescriptor(Element.prototype, "scrollHeight");
  Object.defineProperty(Element.prototype, "scrollHeight", {
    get() {
      if (this.matches("textarea")) measured++;
      return get.call(this);
    },
  });
  const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format").get;
  Object.defineProperty(Intl.DateTimeFormat.prototype, "format", {
    get() {
      formatted++;
      return format.call(this);
    },
  });
}`;

longTest("who replies sees the reply, however far back they have scrolled", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  let id = "";
  for (let i = 0; i < 40; i++) {
    const body = `Question ${i}`;
    id = (await shop.sandbox.inbound({ from: "+14155550100", body })).conversation_id;
  }
  await page.goto(`${url}#/all/${id}`);
  const text = (hasText: string) => page.locator(".message-text", { hasText });
  await text("Question 39").waitFor();
  await page.evaluate(scrollToTop(".thread"));
  await page.locator(".composer-area").fill("An answer");
  await page.locator(".composer-area").press("Control+Enter");
  const toEnd =
    "(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)";
  await text("An answer").waitFor();
  await expect
    .poll(() => page.evaluate(`${toEnd}(document.querySelector(".thread"))`))
    .toBeLessThan(2);
});

longTest("a file that breaks off while it is loaded is told as an outage", async ({ skip }) => {
  const { shop, url, breakOff, page } = await openInbox(skip);
  const { conversation_id: id } = await shop.sandbox.inbound({
    from: "+14155550100",
    body: "My plant",
    media: [{ url: "https://example.com/plant.jpg" }],
  });
  breakOff(/\/media\//);
  await page.goto(`${url}#/all/${id}`);
  const file = page.locator(".attachment-box");
  await file.getByRole("button", { name: "Show" }).click();
  await expect.poll(() => file.getByRole("alert").textContent()).toMatch(/does not respond/);
});

longTest("a message whose last change could not be read is read again", async ({ skip }) => {
  const { shop, page, id } = await openConversation(skip);
  await page.locator(".message").waitFor();
  const read = /v1\/messages\/msg_/;
  await page.route(read, (route) =>
    route.fulfill({ status: 503, contentType: "application/problem+json", body: "{}" }),
  );
  const { id: sent } = await shop.conversations.reply(id, {
    body: "Until six.",
    author_id: "lee",
  });
  await eventually(async () => expect((await shop.messages.get(sent)).status).toBe("delivered"));
  // Events come in order. Once the page shows this one, it has tried to read the message.
  await shop.sandbox.inbound({ from: "+14155550101", body: "Hello from Bob" });
  await page.locator(".row", { hasText: "Hello from Bob" }).waitFor();
  await page.unroute(read);
  await page.locator(".message.is-out[data-status=delivered]").waitFor();
});

test("a message that is redacted loses its text without a reload, and so does the list", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip);
  const from = "+14155550100";
  const { id, conversation_id } = await shop.sandbox.inbound({ from, body: "Card 4111" });
  await page.goto(`${url}#/all/${conversation_id}`);
  await page.locator(".message", { hasText: "Card 4111" }).waitFor();
  await page.locator(".row", { hasText: "Card 4111" }).waitFor();
  // The page can only read the message and its conversation. Otherwise, reading everything again
  // after a lost connection could hide that the event is not handled.
  const own = [`/v1/messages/${id}`, `/v1/conversations/${conversation_id}`];
  await page.route(/\/desk\/(v1|session)/, (route) => {
    const { pathname } = new URL(route.request().url());
    return own.some((path) => pathname.endsWith(path)) ? route.fallback() : route.abort();
  });
  await shop.messages.redact(id);
  await page.locator(".message", { hasText: "was removed" }).waitFor();
  await expect.poll(() => page.getByText("Card 4111").count()).toBe(0);
});

longTest(
  "an old message that is redacted does not appear above those that are loaded",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const receive = (body: string, from = "+14155550100") => shop.sandbox.inbound({ from, body });
    const { id, conversation_id } = await receive("Card 4111");
    for (let i = 0; i < 60; i++) await receive(`Question ${i}`);
    await page.goto(`${url}#/all/${conversation_id}`);
    const messages = page.locator(".message");
    await messages.filter({ hasText: "Question 59" }).waitFor();
    const read: string[] = [];
    page.on("request", (request) => read.push(new URL(request.url()).pathname));
    await shop.messages.redact(id);
    // Events come in order, and each is read after the one before.
    for (const body of ["Next", "Last"]) {
      await receive(body);
      await messages.filter({ hasText: body }).waitFor();
    }
    expect(read.filter((path) => path.endsWith(id))).toEqual([]);
    expect(await messages.filter({ hasText: "was removed" }).count()).toBe(0);
  },
);

test("a redacted message leaves the results of a search, too", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const receive = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
  const { id } = await receive("Card 4111");
  await receive("Thank you");
  await page.goto(`${url}#/all?q=card`);
  await page.locator(".row", { hasText: "Card 4111" }).waitFor();
  await shop.messages.redact(id);
  await page.locator(".row", { hasText: "Thank you" }).waitFor();
  expect(await page.getByText("4111").count()).toBe(0);
});

longTest(
  "what was made from a redacted message is read again: the hand-off and the observations",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    await shop.agents.create({
      name: "Bea",
      instructions: "Help.",
      channels: ["sms"],
      reply: { debounce_ms: 0 },
    });
    const from = "+14155550100";
    const body = "Can I talk to a person?";
    const { id, conversation_id } = await shop.sandbox.inbound({ from, body });
    await eventually(async () =>
      expect((await shop.events.list({ type: "conversation.handoff" })).data).toHaveLength(1),
    );
    const read = new Set<string>();
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (searchParams.get("type") === "conversation.handoff") read.add("hand-offs");
      if (pathname.endsWith("/observations")) read.add("observations");
    });
    const all = ["hand-offs", "observations"];
    await page.goto(`${url}#/all/${conversation_id}`);
    await page.locator(".message", { hasText: body }).waitFor();
    await expect.poll(() => [...read].toSorted()).toEqual(all);
    read.clear();
    await eventually(() => shop.messages.redact(id));
    await page.locator(".message", { hasText: "was removed" }).waitFor();
    await expect.poll(() => [...read].toSorted()).toEqual(all);
  },
);

longTest(
  "a message that is scheduled stands at the end, and where it was canceled after that",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const from = "+14155550100";
    await shop.contacts.create({ phone: from, name: "Ann" });
    const { id: scheduled, conversation_id } = await shop.messages.send({
      to: from,
      body: "See you at nine",
      send_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    for (let i = 0; i < 60; i++) await shop.sandbox.inbound({ from, body: `Question ${i}` });
    await page.goto(`${url}#/all/${conversation_id}`);
    const end = async (): Promise<readonly string[]> =>
      (await page.locator(".message .message-text").allTextContents()).slice(-3);
    await expect.poll(end).toEqual(["Question 58", "Question 59", "See you at nine"]);
    await shop.sandbox.inbound({ from, body: "Wait" });
    await expect.poll(end).toEqual(["Question 59", "Wait", "See you at nine"]);
    await shop.messages.cancel(scheduled);
    await page.locator('.message[data-status="canceled"]').waitFor();
    await shop.sandbox.inbound({ from, body: "Last" });
    await expect.poll(end).toEqual(["Wait", "See you at nine", "Last"]);
  },
);
