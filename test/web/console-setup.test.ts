/** How a person signs in to the console with a token, and sets up endpoints and API keys. */
import { expect, test } from "vitest";
import { consoleHandler } from "../../adapters/web/console/server/index.ts";
import { newContext } from "../support/browser/chromium.ts";
import { show } from "./faults.ts";
import { newTab, openConsole, servePage, startEngine } from "./shop-pages.ts";

test("an address with the token signs in without the form, and does not keep the token", async ({
  skip,
}) => {
  const mounted = consoleHandler(await startEngine());
  const { url } = await servePage(mounted);
  const { page } = await newTab(await newContext(skip));
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await page.goto(`${url}#token=of-an-earlier-start`);
  await dialog.getByLabel("Token").waitFor();
  expect(page.url()).not.toContain("token");

  // The tab of an earlier start is still open: only the hash of its address changes.
  await page.goto(`${url}#token=${mounted.token}`);
  await page.getByRole("heading", { name: "Phones" }).waitFor();
  expect(page.url()).toBe(`${url}#/`);

  await page.context().clearCookies();
  await page.goto("about:blank");
  await page.goto(`${url}#token=${mounted.token}`);
  await page.getByRole("heading", { name: "Phones" }).waitFor();
  expect(await dialog.count()).toBe(0);
  expect(page.url()).toBe(`${url}#/`);
  await page.goBack();
  expect(page.url()).toBe("about:blank");

  // The person opens the address in a tab whose page is still loading.
  await page.context().clearCookies();
  let answer: (() => void) | undefined;
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/session", async (route) => {
    await mayAnswer;
    await route.continue();
  });
  const asked = page.waitForRequest("**/session");
  await page.goto(url);
  await asked;
  await page.goto(`${url}#token=${mounted.token}`);
  answer?.();
  await page.getByRole("heading", { name: "Phones" }).waitFor();
  expect(page.url()).toBe(`${url}#/`);
});

test("a webhook gets the events that a person ticks, and an API key the scopes", async ({
  skip,
}) => {
  const { shop, url, page, faults } = await openConsole(skip);
  const dialog = page.getByRole("dialog");
  const box = (name: string | RegExp) => dialog.getByRole("checkbox", { name, exact: true });
  const hooks = async () => (await shop.webhooks.list()).data;

  // What an endpoint has is ticked, also a kind with one type, and stays if nobody changes it.
  const { id } = await shop.webhooks.create({
    url: "https://shop.example/till",
    events: ["agent.*", "contact.created"],
  });
  await page.goto(`${url}#/webhooks/${id}`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  expect(await box("agent.*").isChecked()).toBe(true);
  await box("contact.created").uncheck();
  await box("conversation.closed").check();
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await hooks())[0]?.events).toEqual(["agent.*", "conversation.closed"]);

  // All events, until a person wants fewer.
  await show(page, "#/webhooks");
  await page.getByRole("button", { name: "Add webhook" }).first().click();
  await dialog.getByLabel("Address").fill("https://shop.example/hooks");
  expect(await dialog.getByRole("checkbox").count()).toBe(1);
  await box(/^All/).uncheck();
  const add = dialog.getByRole("button", { name: "Add", exact: true });
  expect(await add.isDisabled()).toBe(true);
  await box("message.sent").check();
  await box("webhook.disabled").check();
  await box("message.*").check();
  expect(await box("message.failed").isChecked()).toBe(true);
  expect(await box("message.failed").isDisabled()).toBe(true);
  expect(await box("webhook.*").count()).toBe(0);
  await add.click();
  await expect
    .poll(async () => (await hooks())[0]?.events)
    .toEqual(["webhook.disabled", "message.*"]);
  await page.getByRole("button", { name: "I have stored it" }).click();

  await show(page, "#/access");
  await page.getByRole("button", { name: "Create key" }).click();
  await dialog.getByLabel("Name").fill("Reports");
  await box("All that you have").uncheck();
  await box("messages:read").check();
  expect(await dialog.locator("input:indeterminate").count()).toBe(1);
  await dialog.getByRole("button", { name: "Create key" }).click();
  await dialog.getByText("tdg_test_").waitFor();
  const { data: keys } = await shop.apiKeys.list();
  expect(keys.find(({ name }) => name === "Reports")?.scopes).toEqual(["messages:read"]);
  expect(faults).toEqual([]);
});
