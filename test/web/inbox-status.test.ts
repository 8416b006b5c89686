/** What the list of conversations says about a last message that waits or did not arrive. */
import type { Page } from "playwright-core";
import { expect, onTestFinished, test, type TestContext } from "vitest";
import type { Policy } from "../../adapters/entry.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { accepted, busy, carrier, lost, refused } from "../support/engines/carrier.ts";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { accessibilityFaults, kim, newShop, newTab, servePage } from "./shop-pages.ts";

const laptop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

/** A policy that holds a message with the text "held" until tomorrow. */
const notToday: Policy = {
  name: "not_today",
  evaluate: ({ message, now }) =>
    message.body === "held"
      ? { verdict: "defer", until: now + 86_400_000, reason: "It is late." }
      : { verdict: "allow" },
};

/** The inbox of a shop whose carrier answers as the text of a message says. */
async function inbox(skip: TestContext["skip"]) {
  const taken = Promise.withResolvers<void>();
  const take = (): void => taken.resolve();
  const line = carrier({
    async send({ body }, attempt) {
      if (body === "failed") return refused;
      if (body === "queued") return busy(3_600_000);
      if (body === "ambiguous") return lost;
      if (body === "sending") await taken.promise;
      return accepted(attempt);
    },
  });
  const settings = { transports: [line], policies: [notToday] };
  const { engine, shop, authorize } = await newShop(settings);
  onTestFinished(take);
  const { url } = await servePage(inboxHandler(engine, { authorize }));
  /** The carrier reports the status of the message with this text. */
  const report = (text: string, status: "delivered" | "undelivered"): Promise<void> => {
    const call = line.calls.findLastIndex(({ message }) => message.body === text);
    return line.report(status, { call });
  };
  return { shop, url, report, take, ...(await newTab(await newContext(skip), laptop)) };
}

const row = (page: Page, name: string) => page.locator(".row", { hasText: name });

/** The words and the tone of the mark in a row. Null without a mark. It is read in one step. */
const markOf = (page: Page, name: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const row = [...document.querySelectorAll(".row")]
      .find((each) => each.textContent.includes(${JSON.stringify(name)}));
    const mark = row.querySelector(".row-status");
    return mark && [mark.textContent, mark.className.replace("row-status tone-", "")];
  })()`);

const marks = {
  undelivered: ["Not delivered:", "bad"],
  failed: ["Failed:", "bad"],
  ambiguous: ["Unknown whether sent:", "warn"],
  queued: ["Queued:", "neutral"],
  sending: ["Sending:", "neutral"],
  held: ["Scheduled:", "neutral"],
  scheduled: ["Scheduled:", "neutral"],
  canceled: ["Canceled:", "neutral"],
  sent: null,
  delivered: null,
};

/** One conversation for each mark. Its contact and its last message have the name. */
async function fill({ shop, report }: Awaited<ReturnType<typeof inbox>>) {
  const sent = new Map<string, { readonly id: string; readonly conversation_id: string }>();
  for (const [i, name] of Object.keys(marks).entries()) {
    const from = `+141555501${i + 10}`;
    await shop.contacts.create({ phone: from, name: `Contact ${name}` });
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
    if (i % 2 === 0) await shop.conversations.markRead(id);
    const isLater = name === "scheduled" || name === "canceled";
    const send_at = new Date(Date.now() + 3_600_000).toISOString();
    const message = isLater
      ? await shop.messages.send({ to: from, body: name, send_at })
      : await shop.conversations.reply(id, { body: name, author_id: kim.id });
    if (name === "canceled") await shop.messages.cancel(message.id);
    sent.set(name, message);
  }
  const found = (name: string) => sent.get(name) ?? expect.fail(`no message ${name}`);
  await eventually(async () => {
    for (const name of ["undelivered", "delivered", "sent"]) {
      expect((await shop.messages.get(found(name).id)).status).toBe("sent");
    }
  });
  for (const name of ["undelivered", "delivered"] as const) await report(name, name);
  return found;
}

const cutMarks = `[...document.querySelectorAll(".row-status .truncate")]
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.textContent)`;

longTest(
  "the list marks a last message that waits, failed or was not delivered",
  async ({ skip }) => {
    const there = await inbox(skip);
    const { url, page, faults } = there;
    const found = await fill(there);
    await page.goto(url);
    for (const [name, mark] of Object.entries(marks)) {
      await expect.poll(() => markOf(page, `Contact ${name}`), { message: name }).toEqual(mark);
    }
    // The mark is part of the name of the link.
    for (const name of [
      /Contact undelivered .*Not delivered: undel/,
      /Contact sent .*Sent: sent/,
    ]) {
      await page.getByRole("link", { name }).waitFor();
    }

    const check = async (state: string): Promise<void> => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        for (const fault of (await accessibilityFaults(page)) as unknown[]) {
          faults.push(`${state}, ${colorScheme}: ${String(fault)}`);
        }
      }
    };
    for (const size of [laptop, phone]) {
      await page.setViewportSize(size);
      await check(`${size.width} px`);
      expect(await page.evaluate(cutMarks), "no mark is cut off").toEqual([]);
      const text = row(page, "Contact ambiguous").locator(".row-preview > .truncate");
      const { width = 0 } = (await text.boundingBox()) ?? {};
      expect(width, "the longest leaves room for the text").toBeGreaterThan(40);
    }
    await page.setViewportSize(laptop);
    await page.goto(`${url}#/all/${found("undelivered").conversation_id}`);
    await page.locator(".message.is-out").waitFor();
    await check("open");
    expect(faults).toEqual([]);
  },
);

test("the mark of a last message follows its status without a reload", async ({ skip }) => {
  const there = await inbox(skip);
  const { shop, url, page, report, take, faults } = there;
  const found = await fill(there);
  await page.goto(url);
  await row(page, "Contact delivered").waitFor();
  const names = () => page.locator(".row-name").allTextContents();
  const order = Object.keys(marks)
    .map((name) => `Contact ${name}`)
    .toReversed();
  await expect.poll(names).toEqual(order);
  const due = row(page, "Sends ").locator(".row-name");
  await expect.poll(() => due.allTextContents()).toEqual(["Contact scheduled", "Contact held"]);
  await report("undelivered", "delivered");
  await report("sent", "undelivered");
  take();
  await shop.messages.cancel(found("held").id);
  const changed = {
    undelivered: null,
    sent: marks.undelivered,
    sending: null,
    held: marks.canceled,
  };
  for (const [name, mark] of Object.entries(changed)) {
    await expect.poll(() => markOf(page, `Contact ${name}`), { message: name }).toEqual(mark);
  }
  await expect.poll(() => due.allTextContents()).toEqual(["Contact scheduled"]);

  // What the contact writes then is the last message.
  const { to } = await shop.messages.get(found("failed").id);
  await shop.sandbox.inbound({ from: to, body: "Are you there?" });
  await row(page, "Are you there?").waitFor();
  expect(await markOf(page, "Contact failed")).toBeNull();
  // No other change is an activity: not even that of a message that was canceled.
  const others = order.filter((name) => name !== "Contact failed");
  await expect.poll(names).toEqual(["Contact failed", ...others]);
  // A search shows an earlier message, whose status the list does not follow.
  await page.goto(`${url}#/all?q=failed`);
  await page.locator(".row mark").first().waitFor();
  expect(await markOf(page, "Contact failed")).toBeNull();
  expect(faults).toEqual([]);
});

longTest(
  "a message for later that is canceled says so, also if the page has loaded only such messages",
  async ({ skip }) => {
    const { shop, url, page } = await inbox(skip);
    const to = "+14155550100";
    const { conversation_id } = await shop.sandbox.inbound({ from: to, body: "Hello" });
    const plan = async (i: number): Promise<string> => {
      const send_at = new Date(Date.now() + 3_600_000 + i * 60_000).toISOString();
      return (await shop.messages.send({ to, body: `Reminder ${i}`, send_at })).id;
    };
    const ids: string[] = [];
    for (let i = 0; i < 45; i++) ids.push(await plan(i));
    await page.goto(`${url}#/all/${conversation_id}`);
    const canceled = page.locator('.message[data-status="canceled"]');
    await page.locator(".message", { hasText: "Reminder 44" }).waitFor();
    await shop.messages.cancel(ids.at(-1) ?? "");
    await canceled.filter({ hasText: "Reminder 44" }).waitFor();
  },
);

test("the list goes on where the browser grants notifications and then shows none", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await inbox(skip);
  const from = "+14155550100";
  await shop.sandbox.inbound({ from, body: "Hello?" });
  // As Chrome on Android does.
  await page.addInitScript(`
    window.Notification = class {
      static permission = "granted";
      static requestPermission = () => Promise.resolve("granted");
      constructor() { throw new TypeError("Illegal constructor."); }
    };
    Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
  `);
  let streams = 0;
  page.on("request", (request) => {
    if (request.url().includes("/v1/events/stream")) streams++;
  });
  await page.goto(url);
  await row(page, "Hello?").waitFor();
  const settings = page.getByRole("button", { name: "Settings" });
  await settings.click();
  await page.getByRole("menuitem", { name: "Turn on notifications" }).click();
  for (const body of ["Are you there?", "I need help."]) {
    await shop.sandbox.inbound({ from, body });
    await row(page, body).waitFor();
  }
  await settings.click();
  await page.getByRole("menuitem", { name: "Turn on notifications" }).waitFor();
  expect(streams).toBe(1);
  expect(faults).toEqual([]);
});

test("a notification opens its conversation, unless a dialog has entries", async ({ skip }) => {
  const { shop, url, page, faults } = await inbox(skip);
  const [from, other] = ["+14155550100", "+14155550101"];
  const { conversation_id: open } = await shop.sandbox.inbound({ from, body: "Hello?" });
  const { conversation_id: next } = await shop.sandbox.inbound({ from: other, body: "Hi" });
  await page.addInitScript(`
    localStorage.setItem("tidings:notifications", "on");
    window.Notification = class extends EventTarget {
      static permission = "granted";
      constructor() { super(); window.shown = this; }
      close() {}
    };
    Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
  `);
  await page.goto(`${url}#/all/${open}`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Hand off to people" }).click();
  const dialog = page.getByRole("dialog", { name: "Hand off to people" });
  const reason = dialog.getByRole("textbox", { name: "Reason" });
  await reason.fill("It is urgent.");
  await shop.sandbox.inbound({ from: other, body: "Are you there?" });
  const click = (): Promise<void> =>
    page.evaluate(`window.shown.dispatchEvent(new Event("click"))`);
  await page.waitForFunction("window.shown");
  await click();
  await dialog.getByRole("button", { name: "Keep editing" }).click();
  expect(await reason.inputValue()).toBe("It is urgent.");
  expect(page.url()).toContain(open);
  await click();
  await dialog.getByRole("button", { name: "Discard" }).click();
  await page.waitForURL(`**/*#/all/${next}`);
  await dialog.waitFor({ state: "detached" });
  expect(faults).toEqual([]);
});
