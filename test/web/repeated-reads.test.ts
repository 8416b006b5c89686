/** What the server cannot answer for now is read again without a click. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { cases, longTest } from "../support/runs.ts";
import { faultsOf, show } from "./faults.ts";
import { openConsole, openInbox } from "./shop-pages.ts";

const detail = "The storage is busy.";

/** Answers reads of a path as a server that cannot answer for now, until they are released. */
async function busy(page: Page, path: RegExp) {
  const json = { status: 503, detail, retryable: true };
  await page.route(path, (route) => route.fulfill({ status: 503, json }));
  return { release: () => page.unroute(path) };
}

test("each list of the console is there once the server can answer", async ({ skip }) => {
  const { shop, url, page } = await openConsole(skip);
  await shop.sandbox.inbound({ from: "+15005550001", body: "Hello?" });
  await shop.webhooks.create({ url: "https://shop.example/hook", events: ["*"] });
  const agent = await shop.agents.create({
    name: "Bea",
    instructions: "Help.",
    channels: ["sms"],
    enabled: false,
  });
  await shop.apiKeys.create({ name: "Deploy" });
  const all = [
    ["#/messages", /v1\/messages\?/, ".message-body"],
    ["#/events", /v1\/events\?/, ".event-row"],
    ["#/phones", /v1\/contacts\?/, ".handset .text"],
    ["#/webhooks", /v1\/webhooks\?/, ".table"],
    ["#/agents", /v1\/agents\?/, ".table"],
    [`#/agents/${agent.id}`, /\/runs\?/, ".card .state"],
    ["#/access/keys", /v1\/api-keys\?/, ".table"],
    ["#/access/senders", /v1\/senders\?/, ".table"],
  ] as const;
  await page.goto(`${url}#/api`);
  await page.getByText("No endpoint selected").waitFor();
  for (const [place, path, content] of cases(all, ([place]) => /messages|events/.test(place))) {
    const { release } = await busy(page, path);
    await show(page, place);
    await page.getByText(detail).first().waitFor();
    await release();
    await page.locator(content).first().waitFor();
    await expect.poll(() => page.getByText(detail).count()).toBe(0);
  }
});

longTest("a page that opens while the server is busy opens by itself", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  await shop.sandbox.inbound({ from: "+14155550100", body: "Hello?" });
  const session = await busy(page, /\/session$/);
  await page.goto(url);
  await page.getByText(detail).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  // What the page reads next is refused, too.
  const rest = await busy(page, /\/v1\//);
  await session.release();
  await page.locator(".list").getByText(detail).waitFor();
  await rest.release();
  await page.locator(".row", { hasText: "Hello?" }).waitFor();
  await page.getByRole("link", { name: /^Open\s*1/ }).waitFor();
});

test("a row that the server failed to read is read again, though no other event comes", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip);
  const write = (body: string) => shop.sandbox.inbound({ from: "+14155550100", body });
  const { conversation_id: id } = await write("Hello?");
  await shop.conversations.reply(id, { body: "Hello!", author_id: "lee" });
  await page.goto(`${url}#/waiting`);
  await page.getByText("Nobody is waiting").waitFor();
  const path = new RegExp(`/v1/conversations/${id}$`);
  const answered = page.waitForResponse(path);
  await page.route(path, (route) => route.fulfill({ status: 500, json: { status: 500 } }));
  await write("Are you open?");
  await answered;
  await page.unroute(path);
  await page.locator(".row").getByText("Waits under a minute").waitFor();
});
