/** What can be wrong with a page in a browser as it is now. */
import type { Page } from "playwright-core";
import { isLong } from "../support/runs.ts";
import { accessibilityFaults } from "./shop-pages.ts";

/** What no text of a stranger may become. */
export const active = `[...document.querySelectorAll("*")].flatMap((each) => [
  ...(each.matches("iframe, object, embed, base, img, video, audio, math, style, form[action], script:not([src])")
    ? [each.outerHTML.slice(0, 200)] : []),
  ...each.getAttributeNames().filter((name) => name.startsWith("on")),
  ...(each.localName === "a" && !/^https?:$/.test(each.protocol) ? [each.href] : []),
])`;
/** What may scroll sideways: diagrams, code, tabs and the row of phones, and on large screens tables. */
const wide = ".graph-box, .timeline-scroll, pre, .tabs, .handsets";
const tables = ".table-box";
const largeWidth = 768;

/** What is wider than its box, if the page is written in these directions. */
const tooWide = (directions: readonly string[]): string => `${JSON.stringify(directions)}
.flatMap((direction) => {
  if (direction !== "ltr") document.documentElement.dir = direction;
  const boxes = [...document.querySelectorAll("body *")].filter((each) =>
    each.scrollWidth > each.clientWidth + 1 && !each.matches(${JSON.stringify(wide)}) &&
    (innerWidth < ${largeWidth} || !each.matches(${JSON.stringify(tables)})) &&
    /auto|scroll/.test(getComputedStyle(each).overflowX));
  const root = document.documentElement;
  const faults = [...boxes, ...(root.scrollWidth > innerWidth ? [root] : [])].map((each) =>
    [direction, each.localName, each.className, each.scrollWidth, ">", each.clientWidth].join(" "));
  document.documentElement.removeAttribute("dir");
  return faults;
})`;

/** Texts whose lines are too low: where the end is left out, so is the lower part of a g. */
const cut = `[...document.querySelectorAll("body :not(select)")].filter((each) => {
  const { textOverflow, lineHeight, fontSize } = getComputedStyle(each);
  return textOverflow === "ellipsis" && each.checkVisibility() &&
    parseFloat(lineHeight) < 1.2 * parseFloat(fontSize);
}).map((each) => [each.localName, each.className, each.textContent].join(" "))`;

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
 * does not fit the width in either direction of writing, what is cut, and what is no text although
 * it should be. If only a part of the page is new, `npm test` looks for that part alone, on the small
 * screen. It also tries the other direction only there.
 */
export async function faultsOf(page: Page, newPart?: string): Promise<unknown[]> {
  const found: unknown[] = [];
  const part = isLong ? undefined : newPart;
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 900 });
    const isLarge = width >= largeWidth;
    if (isLarge && part !== undefined) continue;
    found.push(...((await accessibilityFaults(page, part)) as unknown[]));
    const directions = isLarge && !isLong ? ["ltr"] : ["ltr", "rtl"];
    for (const each of await page.evaluate<string[]>(tooWide(directions))) {
      found.push(`too wide on ${width} px: ${each}`);
    }
    for (const each of await page.evaluate<string[]>(cut)) {
      found.push(`cut on ${width} px: ${each}`);
    }
  }
  return [...found, ...(await page.evaluate<string[]>(active))];
}
