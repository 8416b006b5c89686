/** To whom a message goes that a person sends later. */
import { expect, test, type TestContext } from "vitest";
import { longTest } from "../support/runs.ts";
import { openInbox } from "./shop-pages.ts";

const phone = "+14155550100";
const other = "+14155550101";

/** A contact with two numbers after a merge, who wrote last from the one that is not its phone. */
async function openTwoNumbers(skip: TestContext["skip"]) {
  const { shop, url, page } = await openInbox(skip);
  const first = await shop.sandbox.inbound({ from: phone, body: "From my old phone" });
  const second = await shop.sandbox.inbound({ from: other, body: "Hello?" });
  await shop.contacts.merge(first.contact_id, second.contact_id);
  await shop.sandbox.inbound({ from: other, body: "From my new phone" });
  const [conversation] = (await shop.conversations.list({ status: "open" })).data;
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  await page.goto(`${url}#/all/${conversation?.id}`);
  await page.locator(".message", { hasText: "From my new phone" }).waitFor();
  const write = async (body: string): Promise<void> => {
    await button("Schedule").click();
    await page.getByRole("option", { name: "Tomorrow morning" }).click();
    await page.locator(".composer-area").fill(body);
    await button("Send later").click();
  };
  const scheduled = async () => {
    const { data } = await shop.messages.list({ status: "scheduled" });
    return data.map(({ to, body }) => [to, body]);
  };
  return { shop, page, contactId: first.contact_id, write, scheduled };
}

test("a message that is sent later goes to the number that the contact wrote from last", async ({
  skip,
}) => {
  const { shop, contactId, write, scheduled } = await openTwoNumbers(skip);
  expect(await shop.contacts.get(contactId)).toMatchObject({ phone });
  await write("Good morning!");
  await expect.poll(scheduled).toEqual([[other, "Good morning!"]]);
});

longTest(
  "an opt-out of another number of the contact does not keep a person from answering",
  async ({ skip }) => {
    const { shop, page, contactId, write, scheduled } = await openTwoNumbers(skip);
    await shop.sandbox.inbound({ from: phone, body: "STOP" });
    await expect.poll(async () => (await shop.contacts.get(contactId)).opted_out).toBe(true);
    await page.locator(".message", { hasText: "STOP" }).waitFor();
    await write("Good morning!");
    await expect.poll(scheduled).toEqual([[other, "Good morning!"]]);
  },
);
