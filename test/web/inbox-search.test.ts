/** A person who goes through the results of a search. */
import { expect, test } from "vitest";
import { sharedChromium } from "../support/browser/chromium.ts";
import { isLong } from "../support/runs.ts";
import { openInbox } from "./inbox-shop.ts";

const chromium = sharedChromium();

test.runIf(isLong)(
  "each result that a person opens leads to its message, also if they left the one before too soon",
  async ({ skip }) => {
    const { shop, url, page } = await openInbox(chromium, skip);
    for (const [i, name] of ["Ann", "Bob"].entries()) {
      const from = `+1415555010${i}`;
      await shop.contacts.create({ phone: from, name });
      await shop.sandbox.inbound({ from, body: `The fern of ${name}` });
      for (let n = 0; n < 60; n++) await shop.sandbox.inbound({ from, body: `Line ${n}` });
    }
    await page.goto(`${url}#/all?q=fern`);
    const result = (name: string) => page.locator(".row", { hasText: name });
    await result("Ann").waitFor();
    // The messages of the first one come only after the person has gone on.
    const isLeft = Promise.withResolvers<void>();
    await page.route(
      /\/messages\?/,
      async (route) => {
        await isLeft.promise;
        await route.abort();
      },
      { times: 1 },
    );
    const asked = page.waitForRequest(/\/messages\?/);
    await result("Ann").click();
    await asked;
    await result("Bob").click();
    const marked = page.locator(".entry.is-marked", { hasText: "The fern of Bob" });
    await marked.waitFor();
    isLeft.resolve();
    await page.locator(".entry", { hasText: "The fern of Bob" }).waitFor();
    expect(await page.locator(".toast").allTextContents()).toEqual([]);
  },
);
