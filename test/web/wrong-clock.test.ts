/** The inbox in a browser whose clock is wrong. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { longTest } from "../support/runs.ts";
import { openInbox } from "./shop-pages.ts";

const hour = 3_600_000;

/** Runs in the page before its own code. */
const clockAhead = (ms: number): string => `
const right = Date;
window.Date = class extends right {
  constructor(...given) {
    if (given.length === 0) super(right.now() + ${ms});
    else super(...given);
  }
  static now() {
    return right.now() + ${ms};
  }
};`;

longTest(
  "waiting times, days and a snooze are those of the server, whatever the browser's clock says",
  async ({ skip }) => {
    for (const wrong of [26 * hour, -3 * hour]) {
      const { shop, url, page, faults } = await openInbox(skip);
      await page.addInitScript(clockAhead(wrong));
      const from = "+14155550100";
      const { conversation_id: id } = await shop.sandbox.inbound({ from, body: "Hello?" });
      await page.goto(`${url}#/all/${id}`);
      await page.locator(".row").getByText("Waits under a minute").waitFor();
      await page.locator(".day", { hasText: "Today" }).waitFor();
      await page.keyboard.press("s");
      await page.getByRole("option", { name: "In one hour" }).click();
      await page
        .getByText(/^Snoozed until/)
        .first()
        .waitFor();
      // The page shows it before the server has it.
      const { snoozed_until } = await eventually(async () => {
        const conversation = await shop.conversations.get(id);
        expect(conversation.status).toBe("snoozed");
        return conversation;
      });
      const until = Date.parse(snoozed_until ?? "") - Date.now();
      expect(until).toBeGreaterThan(hour - 120_000);
      expect(until).toBeLessThan(hour + 120_000);
      expect(faults).toEqual([]);
    }
  },
);

test("a page whose laptop slept opens its stream again at once, since the old one may be dead", async ({
  skip,
}) => {
  const { shop, url, page } = await openInbox(skip);
  let streams = 0;
  page.on("request", (each) => void (streams += Number(each.url().includes("/events/stream"))));
  await shop.sandbox.inbound({ from: "+14155550100", body: "Hello?" });
  await page.clock.install();
  await page.goto(url);
  await page.locator(".row").waitFor();
  await expect.poll(() => streams).toBe(1);
  await page.clock.setSystemTime(Date.now() + hour);
  await expect.poll(() => streams).toBe(2);
});
