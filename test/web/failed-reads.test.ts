/** What the pages say about reads that fail, and where the focus is after another try. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { cases, isLong, longTest } from "../support/runs.ts";
import { faultsOf } from "./faults.ts";
import { openInbox } from "./shop-pages.ts";

/** Answers requests of a path with a problem. Without one, lets them pass again. */
async function answer(
  page: Page,
  path: string,
  problem?: { readonly status: number; readonly [member: string]: unknown },
) {
  await page.unroute(path);
  if (problem === undefined) return;
  await page.route(path, (route) =>
    route.fulfill({
      status: problem.status,
      contentType: "application/problem+json",
      body: JSON.stringify(problem),
    }),
  );
}

/** Matches the element that has the focus. */
const focused = (page: Page, selector: string) =>
  page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`);

longTest(
  "after another try that succeeds, the focus is where the content has appeared",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
    const broken = { status: 500, detail: "The server failed." };
    const again = page.getByRole("button", { name: "Try again" });

    await answer(page, "**/v1/contacts/*/consents", broken);
    await page.goto(`${url}#/all/${id}`);
    // Another failure leaves the button, and the focus on it.
    const failed = page.waitForResponse("**/v1/contacts/*/consents");
    await again.press("Enter");
    await failed;
    expect(await focused(page, "button")).toBe(true);
    await answer(page, "**/v1/contacts/*/consents");
    await again.press("Enter");
    await page.locator(".consent", { hasText: "+1 415 555 0100" }).waitFor();
    expect(await page.locator(".section:focus h3").allInnerTexts()).toEqual(["Consent"]);
    await page.keyboard.press("Tab");
    expect(await focused(page, ".consent button")).toBe(true);

    await answer(page, "**/v1/contacts/ct_*", broken);
    await page.reload();
    await again.waitFor();
    await answer(page, "**/v1/contacts/ct_*");
    await again.press("Enter");
    await page.locator(".facts", { hasText: "+1 415 555 0100" }).waitFor();
    expect(await focused(page, ".contact")).toBe(true);

    await answer(page, "**/v1/messages/*/timeline", broken);
    await page.locator(".message").getByRole("button", { name: "Message actions" }).press("Enter");
    await page.getByRole("menuitem", { name: "Details of this message" }).press("Enter");
    await again.waitFor();
    // The browser gives the focus to the first button of a dialog.
    expect(await focused(page, "dialog button")).toBe(true);
    await answer(page, "**/v1/messages/*/timeline");
    await again.press("Enter");
    await page.locator(".timeline-entry").first().waitFor();
    expect(await focused(page, "dialog *")).toBe(true);
  },
);

longTest(
  "another try is offered only if it may succeed, and else what to do instead",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
    // `npm test` has one with the button, one that tells what to do, and one with its own words.
    const all = [
      { status: 500, retry: true, text: "Nothing was read.", isLookedAt: true },
      { status: 503, retryable: true, retry: true, text: "Nothing was read." },
      { status: 503, retryable: false, retry: false, text: "Reload the page" },
      { status: 400, retryable: false, retry: false, text: "Reload the page" },
      { status: 404, retryable: false, retry: false, text: "It may have been removed" },
      {
        status: 403,
        code: "insufficient_scope",
        retryable: false,
        retry: false,
        text: "Ask an administrator",
        isLookedAt: true,
      },
      // The descriptions of such problems say what to do.
      {
        status: 403,
        code: "local_only",
        retryable: false,
        retry: false,
        text: "Nothing was read.",
      },
      {
        status: 422,
        errors: [{ parameter: "to", message: "Must be a phone number." }],
        retryable: false,
        retry: false,
        text: /Must be a phone number\.\s*$/,
      },
    ];
    await page.goto(`${url}#/all/${id}`);
    const few = cases(all, ({ isLookedAt, status }) => isLookedAt === true || status === 422);
    for (const { retry, text, isLookedAt, ...problem } of few) {
      const detail = "Nothing was read.";
      for (const path of ["**/v1/contacts/*/consents", "**/v1/conversations/*/messages?*"]) {
        await answer(page, path, { ...problem, detail });
      }
      await page.reload();
      for (const place of [".section", ".thread"]) {
        const alert = page.locator(place).getByRole("alert").filter({ hasText: text });
        await alert.waitFor();
        const hasButton = (await alert.getByRole("button", { name: "Try again" }).count()) > 0;
        expect([problem, place, hasButton]).toEqual([problem, place, retry]);
      }
      if (isLookedAt || isLong) expect(await faultsOf(page)).toEqual([]);
    }
  },
);

longTest(
  "what failed in a dialog that is closed by now is not read again after an outage",
  async ({ skip }) => {
    const { shop, url, stop, restart, page } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
    await answer(page, "**/v1/messages/*/timeline", { status: 500, detail: "It failed." });
    await page.goto(`${url}#/all/${id}`);
    await page.locator(".message").getByRole("button", { name: "Message actions" }).press("Enter");
    await page.getByRole("menuitem", { name: "Details of this message" }).press("Enter");
    await page.getByText("It failed.").waitFor();
    await page.keyboard.press("Escape");
    let reads = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/timeline")) reads += 1;
    });
    stop();
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByText("Not connected").waitFor();
    restart();
    // This is read after what waits for the connection.
    const read = page.waitForResponse("**/v1/operators*");
    await page.getByText("Connected again").waitFor();
    await read;
    expect(reads).toBe(0);
  },
);

longTest(
  "what the server could not answer for now is read again without a click",
  async ({ skip }) => {
    const { shop, url, page, stop, restart } = await openInbox(skip);
    const from = "+14155550100";
    const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "First" });
    for (let i = 0; i < 40; i++) await shop.sandbox.inbound({ from, body: `Line ${i}` });
    await shop.sandbox.inbound({ from, body: "Hello?" });
    await page.goto(`${url}#/all/${id}`);
    await page.locator(".message", { hasText: "Hello?" }).waitFor();
    stop();
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByText("Not connected").waitFor();
    await shop.sandbox.inbound({ from: "+14155550101", body: "Missed" });
    await shop.sandbox.inbound({ from, body: "Missed, too" });
    const paths = ["**/v1/conversations?*", "**/v1/conversations/*/messages?limit=40"];
    const busy = { status: 503, detail: "The storage is busy.", retryable: true };
    for (const path of paths) await answer(page, path, busy);
    restart();
    // Each part says so while it waits.
    await expect.poll(() => page.getByText("The storage is busy.").count()).toBe(2);
    // Older messages do not make up for those that were missed.
    await page.getByRole("button", { name: "Load older messages" }).click();
    await page.locator(".message", { hasText: "First" }).waitFor();
    await expect.poll(() => page.getByText("The storage is busy.").count()).toBe(2);
    for (const path of paths) await answer(page, path);
    await page.locator(".row", { hasText: "Missed" }).first().waitFor();
    await page.locator(".message", { hasText: "Missed, too" }).waitFor();
    await expect.poll(() => page.getByText("The storage is busy.").count()).toBe(0);
  },
);
