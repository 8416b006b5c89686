/** Every view and dialog of the inbox: full, empty, loading and broken. */
import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { inboxHandler } from "../../adapters/web/inbox/server/index.ts";
import { sharedChromium } from "../support/chromium.ts";
import { eventually } from "../support/eventually.ts";
import { faultsOf, show } from "./faults.ts";
import { kim, newShop, newTab, servePage } from "./shop-pages.ts";

const chromium = sharedChromium();

async function openInbox(skip: TestContext["skip"]) {
  const { engine, shop, authorize } = await newShop();
  const { url } = await servePage(inboxHandler(engine, { authorize }));
  return { shop, url, ...(await newTab(await chromium(skip))) };
}

test("each view of the inbox is whole and accessible: full, empty, loading and broken", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await openInbox(skip);
  const check = async (state: string): Promise<void> => {
    for (const fault of await faultsOf(page)) faults.push(`${state}: ${String(fault)}`);
  };
  await page.goto(url);
  const empty = {
    all: "No open conversations",
    mine: "Nothing is assigned to you",
    unassigned: "Everything has an owner",
    waiting: "Nobody is waiting",
    snoozed: "Nothing is snoozed",
    closed: "Nothing is closed yet",
    "all?q=zebulon": "Nothing found",
    "all?label=none": "No conversation matches the filters",
  };
  for (const [view, text] of Object.entries(empty)) {
    await show(page, `#/${view}`);
    await page.getByText(text).waitFor();
    await check(view);
  }
  await show(page, "#/all/conv_01J00000000000000000000000");
  await page.getByText("This conversation does not exist").waitFor();

  await shop.sandbox.seed();
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  for (const [i, body] of ["Later", "Done", "Mine"].entries()) {
    const text = await shop.sandbox.inbound({ from: `+1415555010${i}`, body });
    const { conversation_id: id } = text;
    if (body === "Later") {
      await shop.conversations.update(id, { status: "snoozed", snoozed_until: tomorrow });
    }
    if (body === "Done") await shop.conversations.update(id, { status: "closed" });
    if (body === "Mine") await shop.conversations.assign(id, { type: "human", id: kim.id });
  }
  for (const view of ["all", "mine", "unassigned", "waiting", "snoozed", "closed", "all?q=mine"]) {
    await show(page, `#/${view}`);
    await page.locator(".row").first().waitFor();
    await check(`${view} with rows`);
  }
  // The browser reports the missing conversation by itself.
  expect(faults.filter((fault) => !fault.includes("status of 404"))).toEqual([]);

  const released = Promise.withResolvers<void>();
  await page.route("**/v1/**", async (route) => {
    await released.promise;
    await route.abort();
  });
  await show(page, "#/mine");
  await page.locator(".list .skeleton").waitFor();
  expect(await faultsOf(page)).toEqual([]);
  released.resolve();
  await page.locator(".list").getByRole("button", { name: "Try again" }).waitFor();
  expect(await faultsOf(page)).toEqual([]);
});

/** A conversation with everything in it: both directions, a note, an attachment, an agent's reply. */
async function fullConversation({ shop }: Awaited<ReturnType<typeof openInbox>>) {
  const { id: hours } = await shop.playbooks.create({
    name: "Hours",
    trigger: { keywords: ["open"] },
    steps: [{ id: "tell", type: "send", text: "Until six." }],
  });
  await shop.agents.create({
    name: "Bea",
    instructions: "Help.",
    channels: ["sms", "mms"],
    playbook_ids: [hours],
    reply: { debounce_ms: 0 },
  });
  const from = "+14155550100";
  await shop.contacts.create({ phone: from, name: "Ann Keller", attributes: { plan: "Pro" } });
  const { conversation_id: id, contact_id } = await shop.sandbox.inbound({
    from,
    body: "Great plants! Are you open?",
    media: [{ url: "https://example.com/plant.jpg" }],
  });
  await eventually(async () => {
    const { data } = await shop.conversations.messages(id);
    expect(data.map(({ direction, status }) => `${direction} ${status}`)).toContain(
      "outbound delivered",
    );
  });
  await shop.conversations.addNote(id, { body: "Regular customer" });
  await shop.conversations.setLabels(id, ["vip", "plants", "later"]);
  await shop.contacts.addObservation(contact_id, { content: "Likes ferns", kind: "fact" });
  await shop.messages.send({
    to: from,
    body: "Tomorrow at nine.",
    send_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  return id;
}

test("each dialog of the inbox is accessible, and closes by Escape", async ({ skip }) => {
  const there = await openInbox(skip);
  const { url, page, faults } = there;
  const id = await fullConversation(there);
  await page.goto(`${url}#/all/${id}`);
  await page.locator(".note").waitFor();
  await page.getByRole("complementary", { name: "Contact" }).waitFor();
  await page.getByText("Likes ferns").waitFor();
  for (const fault of await faultsOf(page)) faults.push(`conversation: ${String(fault)}`);

  const button = (name: string, of: Page | ReturnType<Page["locator"]> = page) =>
    of.getByRole("button", { name, exact: true }).first();
  const contact = page.getByRole("complementary", { name: "Contact" });
  const key = (pressed: string) => async () => {
    await page.locator(".conversation-header h2").click();
    await page.keyboard.press(pressed);
  };
  const inMenu = (row: string, item: string) => async () => {
    const message = page.locator(row).first();
    await message.hover();
    await button("Message actions", message).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const dialogs: Readonly<Record<string, readonly [string, () => Promise<unknown>]>> = {
    assign: [".picker", key("a")],
    label: [".picker", key("l")],
    snooze: [".picker", key("s")],
    help: ["dialog", key("?")],
    menu: ["[role=menu]", () => button("More actions").click()],
    filters: [".filters", () => button("Filter").click()],
    details: ["dialog", inMenu(".message.is-in", "Details of this message")],
    why: ["dialog", inMenu(".message[data-status=delivered]", "Why the agent wrote this")],
    attach: ["dialog", () => button("Attach a file by its address").click()],
    schedule: [".picker", () => button("Schedule").click()],
    merge: ["dialog", () => button("Merge with another contact", contact).click()],
    erase: ["dialog", () => button("Erase all data", contact).click()],
  };
  for (const [name, [box, open]] of Object.entries(dialogs)) {
    await open();
    await page.locator(box).first().waitFor();
    for (const fault of await faultsOf(page)) faults.push(`${name}: ${String(fault)}`);
    await page.keyboard.press("Escape");
    await page.locator(box).first().waitFor({ state: "detached" });
  }
  expect(faults).toEqual([]);
});
