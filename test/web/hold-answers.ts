import type { Page } from "playwright-core";

interface Held {
  /** Default: both. */
  readonly which?: "reads" | "writes";
  /** How many answers are held back at most. Default: all until the release. */
  readonly times?: number;
}

/**
 * Holds back the server's answers to requests of a path. `arrived` resolves when the server has
 * given the first. `release` passes them on, or loses them, and removes all routes of the page.
 */
export async function holdAnswers(
  page: Page,
  path: RegExp | string,
  { which, times = Infinity }: Held = {},
) {
  const arrived = Promise.withResolvers<void>();
  const decided = Promise.withResolvers<"answered" | "lost">();
  let left = times;
  await page.route(path, async (route) => {
    const kind = route.request().method() === "GET" ? "reads" : "writes";
    if (left === 0 || (which !== undefined && kind !== which)) return route.fallback();
    left--;
    const response = await route.fetch();
    arrived.resolve();
    if ((await decided.promise) === "answered") await route.fulfill({ response });
    else await route.abort();
  });
  return {
    arrived: arrived.promise,
    release: async (outcome: "answered" | "lost" = "answered") => {
      decided.resolve(outcome);
      await page.unrouteAll({ behavior: "wait" });
    },
  };
}
