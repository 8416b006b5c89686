import { carrierErrorCodes, type SendAnswer } from "../../ports/index.ts";
import { holds, same } from "../storage-conformance/checks.ts";
import type { Bench, Case } from "./bench.ts";

const deadlineMs = 25_000;

function rejected(answer: SendAnswer): Extract<SendAnswer, { outcome: "rejected" }> {
  if (answer.outcome !== "rejected") throw new Error(`expected a refusal, got ${answer.outcome}`);
  const { error, retry_after_ms = 0 } = answer;
  holds(carrierErrorCodes.includes(error.code), `${error.code} is not one of the engine's reasons`);
  holds(error.message !== "", "a reason without a sentence");
  holds(
    Number.isFinite(retry_after_ms) && retry_after_ms >= 0,
    `${retry_after_ms} is no time to wait`,
  );
  return answer;
}

async function isAmbiguous(bench: Bench, fate: "loses_answer" | "fails"): Promise<void> {
  const answer = await bench.send(bench.under.message(fate), bench.attempt());
  same(answer.outcome, "ambiguous", "what is known of the message");
}

export const answerCases: Readonly<Record<string, Case>> = {
  "say what the carrier calls a message that it took": {
    needs: ["accepts"],
    async run(bench) {
      const { provider_message_id } = await bench.taken();
      holds(
        provider_message_id !== "" && provider_message_id.length <= 255,
        "a name of 1 to 255 characters",
      );
    },
  },
  "tell two messages apart": {
    needs: ["accepts"],
    async run(bench) {
      const [one, two] = [await bench.taken(), await bench.taken()];
      holds(one.provider_message_id !== two.provider_message_id, "both are called the same");
    },
  },
  "say what is refused for good": {
    needs: ["refuses"],
    async run(bench) {
      const answer = rejected(await bench.send(bench.under.message("refuses"), bench.attempt()));
      same(answer.permanent, true, "whether it is for good");
    },
  },
  "leave what is throttled to be tried again": {
    needs: ["throttles"],
    async run(bench) {
      const answer = rejected(await bench.send(bench.under.message("throttles"), bench.attempt()));
      same([answer.permanent, answer.error.code], [false, "throttled"], "the refusal");
    },
  },
  "know nothing of a message whose answer was lost": {
    needs: ["loses_answer"],
    run: (bench) => isAmbiguous(bench, "loses_answer"),
  },
  "know nothing of a message at which the carrier failed": {
    needs: ["fails"],
    run: (bench) => isAmbiguous(bench, "fails"),
  },
  "come when the signal aborts, and know nothing then": {
    needs: ["hangs"],
    async run(bench) {
      const deadline = new AbortController();
      let outcome = "none";
      void bench.send(bench.under.message("hangs"), bench.attempt(deadline.signal)).then(
        (answer) => (outcome = answer.outcome),
        // A throw is an ambiguous answer.
        () => (outcome = "ambiguous"),
      );
      await bench.clock.settle();
      same(outcome, "none", "the answer before its time");
      deadline.abort();
      await bench.clock.advance(1_000);
      same(outcome, "ambiguous", "the answer after the deadline");
    },
  },
  "are honest under a signal that has aborted before": {
    needs: ["accepts"],
    async run(bench) {
      const answer = await bench.send(
        bench.under.message("accepts"),
        bench.attempt(AbortSignal.abort()),
      );
      holds(answer.outcome !== "rejected" || !answer.permanent, "another attempt could send it");
    },
  },
  "come again after a stop and a start": {
    needs: ["accepts"],
    async run(bench) {
      await bench.transport.stop?.();
      await bench.transport.stop?.();
      await bench.start();
      await bench.taken();
    },
  },
  "are followed by receipts that name the message": {
    needs: ["accepts", "pushes"],
    async run(bench) {
      const { attempt_id, provider_message_id } = await bench.taken();
      await bench.clock.advance(2 * deadlineMs);
      const names = bench.receipts.map(({ subject }) =>
        "attempt_id" in subject
          ? subject.attempt_id === attempt_id
          : subject.provider_message_id === provider_message_id,
      );
      holds(
        names.length > 0 && names.every(Boolean),
        `${names.length} receipts, and not all of that message`,
      );
    },
  },
};
