import { expect, test } from "vitest";
import { sharedChromium } from "../support/chromium.ts";
import { widgetSite } from "./widget-site.ts";

const chromium = sharedChromium();

test("a redaction removes the text from all open tabs, and from one that was offline", async ({
  skip,
}) => {
  const site = await widgetSite(await chromium(skip));
  const { messages, conversations } = site.engine;
  const [one, two] = [await site.openTab(), await site.openTab()];
  await one.write("My password is secret");
  await one.panel.getByText("Sent").waitFor();
  await two.launcher.click();
  await site.say("Yours is secret, too");
  const before = ["> My password is secret", "Yours is secret, too"];
  for (const tab of [one, two]) await tab.shows(before);

  const [conversation] = (await conversations.list()).data;
  const { data } = await messages.list({ conversation_id: conversation?.id ?? "" });
  const [answer = "", question = ""] = data.map(({ id }) => id);
  await messages.redact(question);
  const removed = "This message was removed.";
  for (const tab of [one, two]) await tab.shows([`> ${removed}`, "Yours is secret, too"]);
  site.unplug();
  await messages.redact(answer);
  site.plugIn();
  for (const tab of [one, two]) {
    await tab.shows([`> ${removed}`, removed]);
    // Also what screen readers get.
    expect(await tab.page.getByRole("log").first().textContent()).not.toContain("secret");
    expect(tab.complaints).toEqual([]);
  }
});
