/** The choice of a message's transport, and of the next one. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isTransportError,
  matchRoute,
  maxAttempts,
  nextAfter,
  retryDelays,
  type FailedAttempt,
} from "../../src/messages/routes/route-rules.ts";
import type { Route } from "../../src/ports/route.ts";

describe("the route of a message", () => {
  const facts = { channel: "sms", from: "+15005559999", to: "+4915112345678" } as const;
  const all = (): boolean => true;
  const over = (route: Omit<Route, "transports">, name: string): Route => ({
    ...route,
    transports: [name],
  });

  it("is the first that matches sender, channel and number prefix", () => {
    const routes = [
      over({ from: ["+15005550000"] }, "other-sender"),
      over({ channels: ["mms"] }, "other-channel"),
      over({ to: ["+44", "+1"] }, "other-country"),
      over({ to: ["+44", "+49"], channels: ["sms"], from: [facts.from] }, "it"),
      over({}, "all"),
    ];
    expect(matchRoute(routes, facts, "home", all).transports).toEqual(["it"]);
    expect(matchRoute(routes, { ...facts, to: "+3361234567" }, "home", all).transports).toEqual([
      "all",
    ]);
    expect(matchRoute(routes.slice(0, 3), facts, "home", all).transports).toEqual(["home"]);
  });

  it("falls back only after the outcomes that it names", () => {
    const fallBackAfterOf = (routes: readonly Route[]) =>
      matchRoute(routes, facts, "home", all).fallBackAfter;
    expect(fallBackAfterOf([{ transports: ["a"], fallBackAfter: ["ambiguous"] }])).toEqual([
      "ambiguous",
    ]);
    expect(fallBackAfterOf([{ transports: ["a"] }])).toEqual([]);
    expect(fallBackAfterOf([])).toEqual([]);
  });

  it("skips transports that cannot carry it, and routes without another transport", () => {
    const routes: Route[] = [{ transports: ["live", "more"] }, { transports: ["a", "live", "b"] }];
    const carries = (name: string): boolean => name.length === 1;
    expect(matchRoute(routes, facts, "home", carries).transports).toEqual(["a", "b"]);
    expect(matchRoute(routes.slice(0, 1), facts, "home", carries).transports).toEqual(["home"]);
  });

  /** The duration of each call and the wait that the carrier asks for. */
  const answers = fc.array(
    fc.record({
      takes: fc.constantFrom(0, 10, 25_000),
      wish: fc.option(fc.nat(200_000), { freq: 2 }),
      isExcluded: fc.nat(9).map((n) => n === 0),
    }),
    { minLength: 19, maxLength: 19 },
  );

  it("is the transport that is ready first, each with its own delays, with six attempts at most", () => {
    const way = ["a", "b", "c"] as const;
    fc.assert(
      fc.property(answers, (said) => {
        const tried: FailedAttempt[] = [];
        let now = 0;
        const of = (transport: string): FailedAttempt[] =>
          tried.filter((each) => each.transport === transport);
        const isOver = (name: string): boolean =>
          of(name).length === maxAttempts || of(name).some(({ isExcluded }) => isExcluded);
        const dueOf = (name: string): number => {
          const last = of(name).at(-1);
          const pause = retryDelays[of(name).length - 1] ?? 0;
          return last === undefined ? 0 : (last.not_before ?? last.at + pause);
        };
        for (const { takes, wish, isExcluded } of said) {
          const next = nextAfter(way, tried, now);
          const left = way.filter((name) => !isOver(name));
          if (next === "none") {
            expect(left, "The message goes on while a transport is left.").toEqual([]);
            return;
          }
          expect(left, "The next transport is one that is left.").toContain(next.transport);
          expect(
            next.at,
            "The next attempt comes as soon as one transport that is left is due.",
          ).toBe(Math.max(now, Math.min(...left.map(dueOf))));
          expect(
            next.at,
            "No transport is tried before the time that it asked for.",
          ).toBeGreaterThanOrEqual(of(next.transport).at(-1)?.not_before ?? 0);
          // If several are ready, the one after the last used.
          const places = left.filter((name) => dueOf(name) <= next.at);
          expect(
            next.transport,
            "Of several that are due, it is the turn of the one after the last used.",
          ).toBe(places.find((name) => name > (tried.at(-1)?.transport ?? "")) ?? places[0]);
          now = next.at + takes;
          const not_before = wish === null ? null : now + wish;
          tried.push({ transport: next.transport, isExcluded, at: now, not_before });
        }
        expect(nextAfter(way, tried, now), "Each transport has six attempts at most.").toBe("none");
      }),
      { numRuns: 200 },
    );
  });
});

it.each([
  ["invalid_destination", false],
  ["landline", false],
  ["unreachable", false],
  ["opted_out", false],
  ["filtered", false],
  ["content_rejected", false],
  ["invalid_sender", true],
  ["throttled", true],
  ["carrier_unavailable", true],
  ["unauthorized", true],
  ["unknown", true],
])("after the error %s, another transport may succeed: %s", (code, expected) => {
  expect(isTransportError(code)).toBe(expected);
});
