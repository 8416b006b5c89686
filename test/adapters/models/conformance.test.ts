import { rules } from "tidings/models";
import { describe, it } from "vitest";
import { modelConformance } from "../../../adapters/testing/index.ts";
import { languageModelUnderTest, texts } from "./under-test.ts";

modelConformance({ describe, it }, "languageModel()", { create: languageModelUnderTest });

modelConformance({ describe, it }, "rules()", {
  create: async () => ({ model: rules(), text: (behavior) => texts[behavior] }),
  unable: {
    hands_off: "it hands nobody off",
    calls_action: "it calls no actions",
    stops_early: "its answers are whole",
    fails: "it has no server that could fail",
    hangs: "it answers at once",
    usage: "it uses no tokens",
  },
});
