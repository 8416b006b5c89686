/** What a visitor wrote and the server has not confirmed, in all tabs. */
import { expect, test } from "vitest";
import { newContext } from "../support/browser/chromium.ts";
import { longTest } from "../support/runs.ts";
import { widgetSite, type Tab } from "./widget-site.ts";

test("what was written without a connection is in all tabs, and sent when its own tab is closed", async ({
  skip,
}) => {
  const site = await widgetSite(await newContext(skip));
  const [one, two] = [await site.openTab(), await site.openTab()];
  await one.write("Hello");
  await one.panel.getByText("Sent").waitFor();
  await two.launcher.click();
  await two.shows(["> Hello"]);
  site.unplug();
  await one.write("First");
  await one.panel.getByText("Waiting for a connection").waitFor();
  await one.write("Second");
  await two.write("Third");
  const waiting = ["> Hello", "...> First", "...> Second", "...> Third"];
  for (const tab of [one, two]) {
    await tab.shows(waiting);
    expect(await tab.panel.getByText("Waiting for a connection").count()).toBe(3);
  }
  await one.page.close();
  site.plugIn();
  await two.shows(["> Hello", "> First", "> Second", "> Third"]);
  expect(await site.received()).toEqual(["Hello", "First", "Second", "Third"]);
  expect(two.complaints).toEqual([]);
});

/** Answers what a tab sends with a refusal, until the result is called. */
async function refuse({ page }: Tab) {
  const path = "**/messages";
  await page.route(path, (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 422, json: { status: 422 } })
      : route.continue(),
  );
  return () => page.unroute(path);
}

longTest("a visitor tries a refused message again, or deletes it, in any tab", async ({ skip }) => {
  const site = await widgetSite(await newContext(skip));
  const [one, two] = [await site.openTab(), await site.openTab()];
  await one.write("Hello");
  await one.panel.getByText("Sent").waitFor();
  const accept = [await refuse(one), await refuse(two)];
  await one.write("First");
  await one.panel.getByText("Not sent.").waitFor();
  await one.write("Second");
  await two.launcher.click();
  await expect.poll(() => two.panel.getByText("Not sent.").count()).toBe(2);
  for (const end of accept) await end();
  await two.panel.getByRole("button", { name: "Delete" }).last().click();
  await two.shows(["> Hello", "...> First"]);
  await one.shows(["> Hello", "...> First"]);
  await two.panel.getByRole("button", { name: "Try again" }).click();
  for (const tab of [one, two]) await tab.shows(["> Hello", "> First"]);
  expect(await site.received()).toEqual(["Hello", "First"]);
});

longTest("the lines below a message that was not sent end where it ends", async ({ skip }) => {
  const site = await widgetSite(await newContext(skip));
  const tab = await site.openTab();
  await tab.write("Hello");
  await tab.panel.getByText("Sent").waitFor();
  await refuse(tab);
  await tab.write("Not sent");
  await tab.panel.getByText("Not sent.").waitFor();
  // So narrow that the buttons stand on a line of their own, as below longer words.
  const gaps = await tab.page.evaluate(`(() => {
    const chat = document.querySelector("tidings-chat").shadowRoot;
    const each = chat.querySelector(".stuck .meta");
    each.style.width = "7rem";
    const text = document.createRange();
    text.selectNode(each.firstChild);
    const lines = [text, each.querySelector("button:last-of-type")];
    const ends = lines.map((line) => line.getBoundingClientRect());
    if (ends[0].bottom > ends[1].top) throw new Error("All is on one line.");
    const end = each.getBoundingClientRect().right;
    return ends.map(({ right }) => Math.round(end - right));
  })()`);
  expect(gaps).toEqual([0, 0]);
});
