import {
  type CarriedMessage,
  type LookupAnswer,
  type LookupContext,
  type OutboundMessage,
  type SendAnswer,
  type SendContext,
} from "../../../../src/ports/index.ts";
import { holds, Mismatch, same } from "../checks.ts";
import {
  checkErrorForm,
  checkReceiptForm,
  type CarrierBehavior,
  type Fixture,
  type TransportChecks,
} from "./fixture.ts";

const deadlineMs = 25_000;

/** Fails unless the answer is a valid rejection. Returns it. */
function checkRejected(answer: SendAnswer): Extract<SendAnswer, { outcome: "rejected" }> {
  if (answer.outcome !== "rejected") throw new Mismatch("the outcome rejected", answer.outcome);
  const { error, retry_after_ms = 0 } = answer;
  checkErrorForm(error);
  holds(
    Number.isFinite(retry_after_ms) && retry_after_ms >= 0,
    "a number of at least 0 as retry_after_ms",
    retry_after_ms,
  );
  return answer;
}

/** Fails unless a pause is the one that the carrier asked for. A carrier may ask by a date. */
function checkPause(pause: unknown, asked: number | undefined): void {
  if (asked === undefined) return;
  holds(
    Math.abs(Number(pause ?? 0) - asked) <= Math.min(asked / 2, 1_000),
    `${asked} as retry_after_ms, the milliseconds that the carrier asked for`,
    pause,
  );
}

async function checkAmbiguous(fixture: Fixture, behavior: "loses_answer" | "fails"): Promise<void> {
  const answer = await fixture.send(fixture.underTest.message(behavior), fixture.attempt());
  same(answer.outcome, "ambiguous", "the outcome");
}

export const answerChecks: TransportChecks = {
  "include the provider's id of an accepted message": {
    needs: ["accepts"],
    run: async (fixture) => void (await fixture.sendAccepted()),
  },
  "give two messages different ids": {
    needs: ["accepts"],
    async run(fixture) {
      const [one, two] = [await fixture.sendAccepted(), await fixture.sendAccepted()];
      holds(
        one.provider_message_id !== two.provider_message_id,
        "another provider's id than that of the first message",
        two.provider_message_id,
      );
    },
  },
  "report a permanent rejection": {
    needs: ["refuses"],
    async run(fixture) {
      const answer = checkRejected(
        await fixture.send(fixture.underTest.message("refuses"), fixture.attempt()),
      );
      same(answer.permanent, true, "`permanent`");
    },
  },
  "report throttling as a temporary rejection": {
    needs: ["throttles"],
    async run(fixture) {
      const answer = checkRejected(
        await fixture.send(fixture.underTest.message("throttles"), fixture.attempt()),
      );
      same([answer.permanent, answer.error.code], [false, "throttled"], "the refusal");
      checkPause(answer.retry_after_ms, fixture.underTest.retryAfterMs);
    },
  },
  "are ambiguous when the carrier's answer was lost": {
    needs: ["loses_answer"],
    run: (fixture) => checkAmbiguous(fixture, "loses_answer"),
  },
  "are ambiguous when the carrier failed": {
    needs: ["fails"],
    run: (fixture) => checkAmbiguous(fixture, "fails"),
  },
  "are ambiguous when the signal aborts": {
    needs: ["hangs"],
    async run(fixture) {
      const deadline = new AbortController();
      let outcome = "none";
      const { call } = await fixture.hang(fixture.attempt(deadline.signal));
      void call.then(
        (answer) => (outcome = answer.outcome),
        // A throw is an ambiguous answer.
        () => (outcome = "ambiguous"),
      );
      await fixture.clock.settle();
      same(outcome, "none", "the outcome before the deadline");
      deadline.abort();
      await fixture.clock.advance(1_000);
      same(outcome, "ambiguous", "the outcome after the deadline");
    },
  },
  "are not a permanent rejection when the signal had aborted before": {
    needs: ["accepts"],
    async run(fixture) {
      const answer = await fixture.send(
        fixture.underTest.message("accepts"),
        fixture.attempt(AbortSignal.abort()),
      );
      holds(
        answer.outcome !== "rejected" || !answer.permanent,
        "an answer that is not a permanent rejection",
        answer,
      );
    },
  },
  "continue after a stop and a start": {
    needs: ["accepts"],
    async run(fixture) {
      await fixture.transport.stop?.();
      await fixture.transport.stop?.();
      await fixture.start();
      await fixture.sendAccepted();
    },
  },
  "are followed by receipts of the message": {
    needs: ["accepts", "pushes"],
    async run(fixture) {
      const { attempt_id, provider_message_id } = await fixture.sendAccepted();
      await fixture.clock.advance(2 * deadlineMs);
      const subjects = fixture.receipts.map(({ subject }) => subject);
      const areOwn = subjects.every((subject) =>
        subject.attempt_id
          ? subject.attempt_id === attempt_id
          : subject.provider_message_id === provider_message_id,
      );
      holds(subjects.length > 0 && areOwn, "receipts of this message only, at least one", subjects);
      for (const { receipt } of fixture.receipts) checkReceiptForm(receipt);
    },
  },
};

async function lookUp(
  fixture: Fixture,
  message: OutboundMessage,
  { attempt_id, number, started_at }: Omit<SendContext, "signal">,
  provider_message_id: LookupContext["provider_message_id"],
): Promise<LookupAnswer> {
  const before = fixture.accepted;
  const { signal } = new AbortController();
  const context = { attempt_id, number, started_at, provider_message_id, signal };
  const answer = (await fixture.transport.lookup?.(message, context)) ?? { outcome: "unknown" };
  same(fixture.accepted, before, "number of messages that the carrier has after a lookup");
  for (const { receipts } of messagesIn(answer)) {
    holds(Array.isArray(receipts), "a list of receipts", receipts);
    for (const receipt of receipts) checkReceiptForm(receipt);
  }
  return answer;
}

const messagesIn = (answer: LookupAnswer): readonly CarriedMessage[] => {
  if (answer.outcome === "sent") return [answer];
  return answer.outcome === "alike" ? answer.messages : [];
};

const foundIn = (answer: LookupAnswer): readonly string[] =>
  messagesIn(answer).map(({ provider_message_id }) => provider_message_id);

async function checkNeverNotSent(fixture: Fixture, behavior: CarrierBehavior): Promise<void> {
  const message = fixture.underTest.message(behavior);
  const deadline = new AbortController();
  const attempt = fixture.attempt(deadline.signal);
  // A hanging call is not awaited, like in the engine.
  if (behavior === "hangs") await fixture.hang(attempt);
  else await fixture.send(message, attempt).catch(() => {});
  deadline.abort();
  const { outcome } = await lookUp(fixture, message, attempt, null);
  holds(outcome !== "not_sent", "an outcome other than not_sent", outcome);
}

export const lookupChecks: TransportChecks = {
  "find a message by its provider id": {
    needs: ["accepts", "look-ups"],
    async run(fixture) {
      const { message, provider_message_id, attempt_id } = await fixture.sendAccepted();
      const attempt = { ...fixture.attempt(), attempt_id };
      const answer = await lookUp(fixture, message, attempt, provider_message_id);
      same(
        [answer.outcome, ...foundIn(answer)],
        ["sent", provider_message_id],
        "the outcome and the ids found",
      );
    },
  },
  "are never not_sent when the carrier's answer was lost": {
    needs: ["loses_answer", "look-ups"],
    run: (fixture) => checkNeverNotSent(fixture, "loses_answer"),
  },
  "are never not_sent when the carrier failed": {
    needs: ["fails", "look-ups"],
    run: (fixture) => checkNeverNotSent(fixture, "fails"),
  },
  "are never not_sent when the carrier has not answered yet": {
    needs: ["hangs", "look-ups"],
    run: (fixture) => checkNeverNotSent(fixture, "hangs"),
  },
  "do not match another message": {
    needs: ["accepts", "look-ups"],
    async run(fixture) {
      const { message, provider_message_id } = await fixture.sendAccepted();
      const other = { ...message, body: `${message.body} Another one.` };
      const answer = await lookUp(fixture, other, fixture.attempt(), null);
      holds(
        !foundIn(answer).includes(provider_message_id),
        `a result without ${provider_message_id}, a message with another body`,
        foundIn(answer),
      );
    },
  },
};
