import { describe, it } from "vitest";
import { transportConformance, type CarrierBehavior } from "../../../adapters/testing/index.ts";
import { sandbox } from "../../../adapters/transport/sandbox/index.ts";
import { telnyxUnderTest, twilioUnderTest } from "./stand-ins.ts";
import { message } from "./world.ts";

const pushes = "its carrier calls back";

transportConformance({ describe, it }, "twilio", {
  create: async (clock) => twilioUnderTest(() => clock.now()),
  unable: { pushes },
});

transportConformance({ describe, it }, "telnyx", {
  create: async () => telnyxUnderTest(),
  unable: { pushes },
});

const numbers: Partial<Record<CarrierBehavior, string>> = {
  accepts: "0001",
  refuses: "0005",
  throttles: "0007",
  loses_answer: "0013",
};

transportConformance({ describe, it }, "the sandbox", {
  create: async () => ({
    transport: sandbox(),
    message: (behavior) => ({ ...message, mode: "sandbox", to: `+1500555${numbers[behavior]}` }),
    retryAfterMs: 2_000,
  }),
  unable: {
    fails: "it says of every message whether it took it",
    hangs: "it answers at once",
    callbacks: "it brings what it has to say by itself",
  },
});
