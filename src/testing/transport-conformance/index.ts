import type { TestRunner } from "../storage-conformance/index.ts";
import type { VirtualClock } from "../virtual-clock.ts";
import { answerCases } from "./answers.ts";
import { type Case, type Need, onBench, type TransportUnderTest } from "./bench.ts";
import { callbackCases } from "./callbacks.ts";
import { lookupCases } from "./look-ups.ts";

export interface TransportConformance {
  /** Makes a transport and its carrier for each test. The transport's time is the clock's. */
  create(clock: VirtualClock): Promise<TransportUnderTest>;
  /** What the carrier never does, or the stand-in can't, each with the reason: the tests that need it say so and don't run. */
  readonly unable?: Partial<Readonly<Record<Need, string>>>;
}

/**
 * What the engine relies on, whatever the carrier: run it over your own transport and a stand-in for its carrier.
 *
 * ```ts
 * import { describe, it } from "vitest";
 * transportConformance({ describe, it }, "my carrier", {
 *   create: async () => ({ transport: myCarrier(options), message: (fate) => messages[fate] }),
 *   unable: { hangs: "the stand-in always answers" },
 * });
 * ```
 */
export function transportConformance(
  { describe, it }: TestRunner,
  name: string,
  conformance: TransportConformance,
): void {
  const { unable = {} } = conformance;
  const create = (clock: VirtualClock): Promise<TransportUnderTest> => conformance.create(clock);
  const groups: [string, Readonly<Record<string, Case>>][] = [
    ["answers", answerCases],
    ["look-ups", lookupCases],
    ["callbacks", callbackCases],
  ];
  describe(`${name} as a transport`, () => {
    for (const [group, cases] of groups) {
      describe(group, () => {
        for (const [sentence, { needs, run }] of Object.entries(cases)) {
          const reason = needs.map((need) => unable[need]).find((each) => each !== undefined);
          if (reason === undefined) it(sentence, () => onBench(create, needs, run));
          else it(`${sentence} (not tried: ${reason})`, async () => {});
        }
      });
    }
  });
}
