/** What the inbox reads when it is opened. */
import { expect, test } from "vitest";
import { sharedChromium } from "../support/chromium.ts";
import { isLong } from "../support/runs.ts";
import { openInbox } from "./inbox-shop.ts";

const chromium = sharedChromium();

test.runIf(isLong)("the contact is shown however late the conversation comes", async ({ skip }) => {
  const { shop, url, page } = await openInbox(chromium, skip);
  const { conversation_id: id } = await shop.sandbox.inbound({
    from: "+14155550100",
    body: "Hello?",
  });
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
  const { shop, url, page } = await openInbox(chromium, skip);
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
