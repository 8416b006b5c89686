/** A person's day at the inbox, from the first text to the closed conversation. */
import { expect, test } from "vitest";
import { system } from "../../adapters/system/index.ts";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { isLong } from "../support/runs.ts";
import { accessibilityFaults, kim, newShop, newTab, servePage } from "./shop-pages.ts";

const ann = "+14155550100";
const hourMs = 3_600_000;

test("a text arrives, the agent hands off, and a person takes it, replies, snoozes, and closes it", async ({
  skip,
}) => {
  // The time of the machine, and what has been skipped.
  let skippedMs = 0;
  const { clock } = system();
  const { engine, shop, authorize } = await newShop({
    clock: { ...clock, now: () => clock.now() + skippedMs },
  });
  await shop.agents.create({
    name: "Bea",
    instructions: "Help.",
    channels: ["sms"],
    reply: { debounce_ms: 0 },
    handoff: { rules: [{ on: "customer_request" }], message: "I pass you on." },
  });
  await shop.contacts.create({ phone: ann, name: "Ann Keller" });
  const { url } = await servePage(inboxHandler(engine, { authorize }));
  const { page, faults } = await newTab(await newContext(skip));
  const views = page.getByRole("navigation", { name: "Views" });
  const view = (name: string) => views.getByRole("link", { name });
  const row = page.locator(".row", { hasText: "Ann Keller" });
  const write = (body: string) => shop.sandbox.inbound({ from: ann, body });
  await page.goto(url);
  await page.getByText("No open conversations").waitFor();

  // In the morning a text arrives. The agent cannot help, and hands off.
  const { conversation_id: id } = await write("Can I talk to a person, please?");
  await row.getByText("I pass you on.").waitFor();
  await expect.poll(() => page.title()).toBe("(1) Inbox");
  await view("Waiting").getByText("1").waitFor();
  await view("Waiting").click();
  await row.getByText("Waits").waitFor();
  await row.click();
  await page.locator(".message.is-in", { hasText: "talk to a person" }).waitFor();
  await page.locator(".message.is-out", { hasText: "I pass you on." }).waitFor();
  const notice = page.locator(".notice", { hasText: "Waits for a person since" });
  await notice.locator("p").first().waitFor();

  // Kim takes it and replies. The reply's state follows, and so does the answer.
  await notice.getByRole("button").click();
  await page.locator(".conversation-sub", { hasText: "You" }).waitFor();
  const taken = page.locator(".notice", { hasText: "Waits for your reply since" });
  await taken.waitFor();
  expect(await taken.getByRole("button").count()).toBe(0);
  await view("Mine").click();
  await row.click();
  const composer = page.getByRole("textbox", { name: "Reply to Ann Keller" });
  await composer.fill("Kim here. Your plant comes on Friday.");
  await page.getByRole("button", { name: "Send", exact: false }).last().click();
  await page.locator(".message.is-out[data-status=delivered]", { hasText: "Kim here." }).waitFor();
  await write("Great. Please remind me.");
  await page.locator(".message.is-in", { hasText: "remind me" }).waitFor();
  // Someone looks at it, so it is read.
  await eventually(async () => expect((await shop.conversations.get(id)).unread_count).toBe(0));
  if (isLong) expect(await accessibilityFaults(page)).toEqual([]);

  // She snoozes it. It leaves her list, and comes back by itself after an hour.
  await page.getByRole("button", { name: "Snooze" }).click();
  await page.getByRole("option", { name: "In one hour" }).click();
  await page.locator(".notice", { hasText: "Snoozed until" }).waitFor();
  await view("Mine").click();
  await page.getByText("Nothing is assigned to you").waitFor();
  skippedMs += hourMs;
  // What happens elsewhere wakes the engine, which would look at the time a few seconds later.
  await shop.sandbox.inbound({ from: "+14155550101", body: "Hello" });
  await row.waitFor();

  // She closes it. It is among the closed ones, with everything that was said and by whom.
  await row.click();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByText("Nothing is assigned to you").waitFor();
  await view("Closed").click();
  await row.waitFor();
  expect(await shop.conversations.get(id)).toMatchObject({
    status: "closed",
    assignee: { type: "human", id: kim.id },
    unread_count: 0,
  });
  const { data } = await shop.conversations.messages(id);
  const said = data.map(({ author, body }) => `${author.type}: ${body}`);
  expect(said.toSorted()).toEqual([
    "agent: I pass you on.",
    "contact: Can I talk to a person, please?",
    "contact: Great. Please remind me.",
    "human: Kim here. Your plant comes on Friday.",
  ]);
  expect(faults).toEqual([]);
});
