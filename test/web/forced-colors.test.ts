/** Pages in the colors of the system's high-contrast mode. */
import { expect } from "vitest";
import { longTest } from "../support/runs.ts";
import { openInbox } from "./shop-pages.ts";

longTest("the line below a tab tells which one is chosen", async ({ skip }) => {
  const { shop, url, page } = await openInbox(skip);
  const { conversation_id: id } = await shop.sandbox.inbound({ from: "+14155550100", body: "Hi" });
  await page.emulateMedia({ forcedColors: "active", colorScheme: "light" });
  await page.goto(`${url}#/all/${id}`);
  await page.getByRole("tab", { name: "Note" }).waitFor();
  /** Whether the line has another color than the background. */
  const lines = (): Promise<boolean[]> =>
    page.evaluate(
      `["Reply", "Note"].map((name) => {
        const tab = document.evaluate("//*[@role='tab'][.='" + name + "']", document).iterateNext();
        return getComputedStyle(tab).borderBlockEndColor !== "rgb(255, 255, 255)";
      })`,
    );
  await expect.poll(lines).toEqual([true, false]);
  await page.getByRole("tab", { name: "Note" }).click();
  await expect.poll(lines).toEqual([false, true]);
});
