/** What the console makes of what a person types into its fields. */
import { expect, test, type TestContext } from "vitest";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { sharedChromium } from "../support/browser/chromium.ts";
import { isLong } from "../support/runs.ts";
import { newShop, newTab, servePage } from "./shop-pages.ts";

const chromium = sharedChromium();

/** The console of a new account, in an empty tab. */
async function openConsole(skip: TestContext["skip"]) {
  const { engine, shop, authorize } = await newShop();
  const { url } = await servePage(consoleHandler(engine, { authorize }));
  const { page } = await newTab(await chromium(skip));
  return { shop, url, page };
}

test.runIf(isLong)(
  "a test number that is typed as it is shown is offered once",
  async ({ skip }) => {
    const { url, page } = await openConsole(skip);
    await page.goto(url);
    await page.locator(".test-number").first().waitFor();
    await page.getByRole("button", { name: "Add phone" }).click();
    const filter = page.getByRole("combobox");
    await filter.fill("+1 500 555 0003");
    expect(await page.getByRole("option").count()).toBe(1);
    await filter.fill("+1 500 555 9999");
    expect(await page.getByRole("option").allInnerTexts()).toEqual(["Add +1 500 555 9999"]);
  },
);

test.runIf(isLong)(
  "a sender keeps its limit when what is typed for it is no number",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    const sender = async () => (await shop.senders.list()).data[0] ?? expect.fail("No sender.");
    const { id, address } = await sender();
    await shop.senders.update(id, { messages_per_second: 2 });
    await page.goto(`${url}#/access/senders`);
    await page.getByRole("button", { name: `Actions of ${address}` }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    const rate = dialog.getByRole("textbox", { name: "Messages per second" });
    await rate.fill("0,5");
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => dialog.getByText("must be a number").count()).toBe(1);
    expect(await rate.getAttribute("aria-invalid")).toBe("true");
    expect((await sender()).messages_per_second).toBe(2);

    await rate.fill(" ");
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect.poll(async () => (await sender()).messages_per_second).toBeNull();
  },
);
