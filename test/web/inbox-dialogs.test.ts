/** The dialogs of the inbox by keyboard: where they begin, what Enter does, what they refuse. */
import { expect, test } from "vitest";
import { sharedChromium } from "../support/chromium.ts";
import { openInbox } from "./inbox-shop.ts";

const chromium = sharedChromium();

const focused = `document.activeElement?.labels?.[0]?.textContent`;

test("a dialog begins in its first field, Enter confirms it once, and it says what it refuses", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await openInbox(chromium, skip);
  const from = "+14155550100";
  const { conversation_id: id, contact_id } = await shop.sandbox.inbound({ from, body: "Hello?" });
  await shop.conversations.assign(id, { type: "human", id: "lee" });
  await page.goto(`${url}#/all/${id}`);
  await page.getByText("Nothing noted").waitFor();
  const button = (name: string) => page.getByRole("button", { name, exact: true }).first();
  const dialog = page.getByRole("dialog");
  const begins = async (field: string): Promise<void> => {
    await dialog.waitFor();
    expect(await page.evaluate(focused)).toContain(field);
  };
  const done = () => dialog.waitFor({ state: "detached" });

  await button("Attach a file by its address").click();
  await begins("Address of the file");
  await page.keyboard.type("plant.jpg");
  await page.keyboard.press("Enter");
  await dialog.getByText("Enter an address that begins with").waitFor();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("https://example.com/plant.jpg");
  await page.keyboard.press("Enter");
  await done();
  await page.locator(".chip", { hasText: "plant.jpg" }).waitFor();

  await page.locator(".conversation-header h2").click();
  await page.keyboard.press("s");
  await page.getByRole("option", { name: "At a date and time" }).click();
  await begins("At a date and time");
  await page.getByLabel("At a date and time").fill("2020-01-01T10:00");
  await dialog.getByText("Enter a later time than now.").waitFor();
  await page.keyboard.press("Enter");
  expect(await dialog.isVisible()).toBe(true);
  const later = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16);
  await page.getByLabel("At a date and time").fill(later);
  await page.keyboard.press("Enter");
  await done();
  await expect.poll(async () => (await shop.conversations.get(id)).status).toBe("snoozed");
  await shop.conversations.update(id, { status: "open" });

  // While the hand-off is under way, neither Enter nor a click repeats it.
  const held = Promise.withResolvers<void>();
  let handOffs = 0;
  await page.route("**/handoff", async (route) => {
    handOffs++;
    await held.promise;
    await route.continue();
  });
  await button("More actions").click();
  await page.getByRole("menuitem", { name: "Hand off to people" }).click();
  await begins("Reason");
  await page.keyboard.type("Wants a person");
  for (let times = 0; times < 2; times++) await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Hand off to people" }).click();
  held.resolve();
  await done();
  await page.locator(".notice", { hasText: "Wants a person" }).waitFor();
  expect(handOffs).toBe(1);

  await button("Merge with another contact").click();
  await begins("Find the other contact");
  await page.keyboard.type("Nobody");
  await dialog.getByText("Nothing found").waitFor();
  // The first clears the search.
  for (let times = 0; times < 2; times++) await page.keyboard.press("Escape");
  await done();
  await button("Record an opt-out").click();
  await begins("Where this comes from");
  await page.keyboard.type("On the phone");
  await page.keyboard.press("Enter");
  await done();
  const { data } = await shop.contacts.consents(contact_id);
  expect(data[0]).toMatchObject({ status: "opted_out", evidence: [{ detail: "On the phone" }] });
  expect(faults).toEqual([]);
});
