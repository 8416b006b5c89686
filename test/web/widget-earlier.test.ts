import { test } from "vitest";
import { sharedChromium } from "../support/chromium.ts";
import { freezable, thaw, toBeginning, widgetSite } from "./widget-site.ts";

const chromium = sharedChromium();

test("earlier messages come although the newest ones are loaded again before them", async ({
  skip,
}) => {
  const context = await chromium(skip);
  await context.addInitScript(freezable);
  const site = await widgetSite(context);
  const one = await site.openTab();
  await one.write("My first message");
  await one.panel.getByText("Sent").waitFor();
  for (let i = 0; i < 40; i++) await site.say(`Answer ${i}`);
  const two = await site.openTab();
  await two.launcher.click();
  await two.panel.getByText("Answer 39").first().waitFor();
  const earlier = Promise.withResolvers<void>();
  await two.page.route(/cursor=/, async (route) => {
    await earlier.promise;
    await route.continue();
  });
  const requested = two.page.waitForRequest(/cursor=/);
  await two.page.evaluate(toBeginning);
  await requested;
  await two.page.evaluate("window.isFrozen = true");
  await site.say("Answer 40");
  await two.page.waitForFunction("window.missed?.includes('arrival')");
  await two.page.evaluate(thaw);
  await two.panel.getByText("Answer 40").first().waitFor();
  earlier.resolve();
  await two.panel.getByText("My first message").waitFor();
});
