/** What can be wrong with a page in a browser as it is now. */
import type { Page } from "playwright-core";
import { accessibilityFaults } from "./shop-pages.ts";

/** What no text of a stranger may become. */
export const active = `[...document.querySelectorAll("*")].flatMap((each) => [
  ...(each.matches("iframe, object, embed, base, img, video, audio, math, style, form[action], script:not([src])")
    ? [each.outerHTML.slice(0, 200)] : []),
  ...each.getAttributeNames().filter((name) => name.startsWith("on")),
  ...(each.localName === "a" && !/^https?:$/.test(each.protocol) ? [each.href] : []),
])`;
const overflow = "document.documentElement.scrollWidth - innerWidth";

/** Goes to a place of the page, such as `#/messages`. */
export const show = (page: Page, place: string): Promise<unknown> =>
  page.evaluate(`location.hash = ${JSON.stringify(place)}`);

/** Ends with the screen that most tests use. */
const looks = [
  { colorScheme: "dark", width: 320 },
  { colorScheme: "light", width: 1440 },
] as const;

/**
 * Looks at a page in both schemes, on a small screen and on a large one. Returns what axe finds, what
 * does not fit the width, and what is no text although it should be.
 */
export async function faultsOf(page: Page): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 900 });
    found.push(...((await accessibilityFaults(page)) as unknown[]));
    const wider = await page.evaluate<number>(overflow);
    if (wider > 0) found.push(`${wider} px wider than ${width} px`);
  }
  return [...found, ...(await page.evaluate<string[]>(active))];
}
