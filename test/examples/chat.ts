/** Checks the pages of docs/webchat.md in a real browser. */
import type { Page } from "playwright-core";
import { expect, type TestContext } from "vitest";
import { chromium } from "../support/browser/chromium.ts";
import { eventually } from "../support/eventually.ts";

/**
 * Markup is shown as text in both directions. A text whose response is lost stays in the field, and
 * the next click sends it once.
 */
export async function expectToChat(url: string, skip: TestContext["skip"]): Promise<void> {
  const browser = await chromium(skip);
  const tab = await browser.newPage();
  await tab.goto(url);
  await say(tab, "<b>hello</b>");
  await shows(tab, ["<b>hello</b>", "You wrote: <b>hello</b>"]);

  await tab.route(
    "**/messages",
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await say(tab, "again");
  await shows(tab, ["<b>hello</b>", "You wrote: <b>hello</b>", "You wrote: again"]);
  expect(await tab.inputValue("[name=body]")).toBe("again");
  await tab.click("button");
  await shows(tab, ["<b>hello</b>", "You wrote: <b>hello</b>", "You wrote: again", "again"]);
  await say(tab, "last");
  await shows(tab, ["You wrote: again", "again", "last", "You wrote: last"]);
}

/** The widget shows what the visitor writes and the answer. */
export async function expectWidgetToChat(url: string, skip: TestContext["skip"]): Promise<void> {
  const browser = await chromium(skip);
  const tab = await browser.newPage();
  await tab.goto(url);
  await tab.getByRole("button", { name: "Open the chat" }).click();
  await tab.getByRole("textbox", { name: "Write a message" }).fill("<b>hello</b>");
  await tab.keyboard.press("Enter");
  await tab.getByText("You wrote: <b>hello</b>").first().waitFor();
}

async function say(tab: Page, words: string): Promise<void> {
  await eventually(async () => expect(await tab.isDisabled("button")).toBe(false));
  await tab.fill("[name=body]", words);
  await tab.click("button");
}

/** Waits until the thread ends with these lines. */
async function shows(tab: Page, lines: readonly string[]): Promise<void> {
  await eventually(async () => {
    const shown = await tab.locator("li").allTextContents();
    expect(shown.slice(-lines.length)).toEqual(lines);
  });
}
