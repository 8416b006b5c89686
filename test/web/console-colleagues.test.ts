/** Changes that other people and programs make while a person works in the console. */
import type { Page } from "playwright-core";
import { expect, test, type TestContext } from "vitest";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { sharedChromium } from "../support/chromium.ts";
import { newShop, newTab, servePage } from "./shop-pages.ts";

const chromium = sharedChromium();

/** The console of a new account, in an empty tab. */
async function openConsole(skip: TestContext["skip"]) {
  const { engine, shop, authorize } = await newShop();
  const { url } = await servePage(consoleHandler(engine, { authorize }));
  const { page } = await newTab(await chromium(skip));
  return { shop, url, page };
}

/** Holds back the answer to the first read of a path, which the server gives at once. */
async function holdFirstRead(page: Page, path: RegExp) {
  const isRead = Promise.withResolvers<void>();
  const isReleased = Promise.withResolvers<void>();
  let isFirst = true;
  await page.route(path, async (route) => {
    if (!isFirst || route.request().method() !== "GET") return route.fallback();
    isFirst = false;
    const response = await route.fetch();
    isRead.resolve();
    await isReleased.promise;
    await route.fulfill({ response });
  });
  const release = async (): Promise<void> => {
    isReleased.resolve();
    await page.unrouteAll({ behavior: "wait" });
  };
  return { isRead: isRead.promise, release };
}

test("a key that is created before the list of keys has arrived stays in the list", async ({
  skip,
}) => {
  const { shop, url, page } = await openConsole(skip);
  await shop.apiKeys.create({ name: "Till", scopes: ["messages:read"] });
  const { isRead, release } = await holdFirstRead(page, /v1\/api-keys\?/);
  await page.goto(`${url}#/access/keys`);
  await isRead;
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Reports");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  await release();
  await page.getByRole("row", { name: "Till" }).waitFor();
  expect(await page.getByRole("row", { name: "Reports" }).count()).toBe(1);
});
