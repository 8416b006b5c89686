import { hasMethods, option, optionsObject, parseOptions } from "../../../../src/kernel/index.ts";
import { checkReturned, defineSuite, testOptions, type TestRunner } from "../suite.ts";
import { answerChecks } from "./answers.ts";
import { callChecks } from "./calls.ts";
import { Fixture, type ModelNeed, type ModelUnderTest } from "./fixture.ts";

/** The model that `modelConformance` tests. */
export interface ModelConformance {
  /** Creates a model for each test, with the server behind it if it has one. */
  create(): Promise<ModelUnderTest>;
  /**
   * What the model or its simulated server cannot do, each with the reason. Tests that need it are
   * not run. They pass, and their names give the reason.
   */
  readonly unable?: Partial<Readonly<Record<ModelNeed, string>>> | undefined;
}

const argumentsSchema = optionsObject({
  ...testOptions,
  conformance: option<ModelConformance>("{ create, unable }", (given) =>
    hasMethods(given, "create"),
  ),
});

/**
 * Tests that a model of agents has the behavior that the engine relies on. Run it with your model
 * and, if it calls a server, with a simulated one. The turns of the suite are those of a hair
 * salon with an action, a playbook and two pieces of knowledge.
 *
 * ```ts
 * import { describe, it } from "vitest";
 * modelConformance({ describe, it }, "my model", {
 *   create: async () => ({ model: myModel(simulatedServer), text: (behavior) => texts[behavior] }),
 *   unable: { usage: "it counts no tokens" },
 * });
 * ```
 * @throws TidingsError `invalid_option` when an argument is wrong
 */
export function modelConformance(
  runner: TestRunner,
  name: string,
  conformance: ModelConformance,
): void {
  parseOptions("modelConformance: ", argumentsSchema, { runner, name, conformance });
  const { unable = {} } = conformance;
  defineSuite(runner, {
    title: `${name} as a model`,
    groups: [
      ["answers", answerChecks],
      ["calls", callChecks],
    ],
    unable,
    async withFixture(_needs, check) {
      const underTest = await conformance.create();
      checkReturned(
        "modelConformance: create()",
        underTest,
        "{ model, text }, with a model that has `respond` or is this function",
        hasMethods(underTest, "text") &&
          (typeof underTest.model === "function" || hasMethods(underTest.model, "respond")),
      );
      try {
        await check(new Fixture(underTest, unable));
      } finally {
        await underTest.remove?.();
      }
    },
  });
}
