import { hasMethods, option, optionsObject, parseOptions } from "../../../../src/kernel/index.ts";
import type { VirtualClock } from "../../simulated/virtual-clock.ts";
import { defineSuite, testOptions, type TestRunner } from "../suite.ts";
import { answerChecks, lookupChecks } from "./answers.ts";
import { callbackChecks } from "./callbacks.ts";
import { runWithFixture, type TransportNeed, type TransportUnderTest } from "./fixture.ts";
import { messageChecks } from "./messages.ts";

/** The transport and the carrier that `transportConformance` tests. */
export interface TransportConformance {
  /** Creates a transport and its carrier for each test. The transport uses the clock. */
  create(clock: VirtualClock): Promise<TransportUnderTest>;
  /**
   * What the carrier or its simulation cannot do, each with the reason. Tests that need it are
   * not run. They pass, and their names give the reason.
   */
  readonly unable?: Partial<Readonly<Record<TransportNeed, string>>> | undefined;
}

const argumentsSchema = optionsObject({
  ...testOptions,
  conformance: option<TransportConformance>("{ create, unable }", (given) =>
    hasMethods(given, "create"),
  ),
});

/**
 * Tests that a transport has the behavior that the engine relies on. Run it with your transport
 * and a simulated carrier.
 *
 * ```ts
 * import { describe, it } from "vitest";
 * transportConformance({ describe, it }, "my carrier", {
 *   create: async () => ({
 *     transport: myCarrier(options),
 *     message: (behavior) => messages[behavior],
 *   }),
 *   unable: { hangs: "the simulated carrier always answers" },
 * });
 * ```
 * @throws TidingsError `invalid_option` when an argument is wrong
 */
export function transportConformance(
  runner: TestRunner,
  name: string,
  conformance: TransportConformance,
): void {
  parseOptions("transportConformance: ", argumentsSchema, { runner, name, conformance });
  const { unable = {} } = conformance;
  defineSuite(runner, {
    title: `${name} as a transport`,
    groups: [
      ["messages", messageChecks],
      ["answers", answerChecks],
      ["look-ups", lookupChecks],
      ["callbacks", callbackChecks],
    ],
    unable,
    withFixture: (needs, check) =>
      runWithFixture((clock) => conformance.create(clock), needs, check),
  });
}
