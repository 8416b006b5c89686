import { expect, test } from "vitest";
import { newContext } from "../support/browser/chromium.ts";
import { longTest } from "../support/runs.ts";
import { freezable, thaw, toBeginning, widgetSite } from "./widget-site.ts";

test("a redaction removes the text from all open tabs, and from one that was offline", async ({
  skip,
}) => {
  const site = await widgetSite(await newContext(skip));
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

longTest(
  "a tab that was frozen while another one read the stream removes the text of an old message",
  async ({ skip }) => {
    const context = await newContext(skip);
    await context.addInitScript(freezable);
    const site = await widgetSite(context);
    const { messages } = site.engine;
    const one = await site.openTab();
    await one.write("My password is secret");
    await one.panel.getByText("Sent").waitFor();
    for (let i = 0; i < 40; i++) await site.say(`Answer ${i}`);
    const two = await site.openTab();
    await two.launcher.click();
    await two.panel.getByText("Answer 39").first().waitFor();
    // Earlier messages are loaded when the visitor scrolls to the beginning.
    const secret = two.panel.getByText("My password is secret");
    await expect
      .poll(async () => {
        await two.page.evaluate(toBeginning);
        return secret.count();
      })
      .toBe(1);

    await two.page.evaluate("window.isFrozen = true");
    const { data } = await messages.list({ direction: "inbound" });
    await messages.redact(data[0]?.id ?? "");
    await one.panel.getByText("Answer 39").first().waitFor();
    await expect.poll(() => one.panel.getByText("My password is secret").count()).toBe(0);
    await two.page.evaluate(thaw);

    await expect.poll(() => secret.count()).toBe(0);
    await two.panel.getByText("Answer 39").first().waitFor();
  },
);
