/** Changes that no event reports. `npm test` looks at one page only. */
import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { isLong, longTest } from "../support/runs.ts";
import { show } from "./faults.ts";
import { openConsole } from "./shop-pages.ts";

longTest(
  "pages show what a colleague changed when a person comes back to the window",
  async ({ skip }) => {
    const { shop, url, page } = await openConsole(skip);
    const row = (name: string) => page.getByRole("row", { name });
    const heading = (name: string) => page.getByRole("heading", { name });

    /** Opens a page, lets a colleague change what it shows, and comes back to the window. */
    async function comeBack(path: string, shown: Locator, change: () => Promise<unknown>) {
      await show(page, path);
      await shown.waitFor();
      await change();
      await page.evaluate(`window.dispatchEvent(new Event("focus"))`);
    }

    const key = await shop.apiKeys.create({ name: "Till", scopes: ["messages:read"] });
    await page.goto(url);
    await comeBack("#/access/keys", row("Till"), () => shop.apiKeys.revoke(key.id));
    await row("Till").getByText("Revoked").waitFor();
    if (!isLong) return;

    const { id } = await shop.agents.create({ name: "Ada", channels: ["sms"] });
    await comeBack("#/agents", row("Ada"), () => shop.agents.update(id, { name: "Bea" }));
    await row("Bea").waitFor();
    const rename = () => shop.agents.update(id, { name: "Cem" });
    await comeBack(`#/agents/${id}`, heading("Bea"), rename);
    await heading("Cem").waitFor();

    const add = (name: string) =>
      shop.webhooks.create({ url: `https://example.com/${name}`, events: ["contact.created"] });
    await add("first");
    await comeBack("#/webhooks", row("example.com/first"), () => add("second"));
    await row("example.com/second").waitFor();
    expect(await row("example.com/first").count()).toBe(1);
  },
);
