import { describe, expect, it } from "vitest";
import { virtualClock } from "../../adapters/testing/simulated/virtual-clock.ts";
import { sandbox } from "../../adapters/transport/sandbox/index.ts";
import {
  applyAnswer,
  applyNotSent,
  evidenceOf,
} from "../../src/messages/attempts/attempt-rules.ts";
import {
  applyEvidence,
  applyReceiptTimeout,
  handOver,
  plan,
  type MessageState,
} from "../../src/messages/rules.ts";
import { silent } from "../../src/ports/logger.ts";
import type {
  LookupContext,
  OutboundMessage,
  Receipt,
  ReceiptSubject,
} from "../../src/ports/transport.ts";

/** A minimal dispatcher: one message, the rules and the simulated carrier. */
async function lifeOf(to: string) {
  const clock = virtualClock();
  const begun = clock.now();
  const attempts: LookupContext[] = [];
  const parked: { provider_message_id: string; receipt: Receipt }[] = [];
  const statuses: string[] = [];
  const first = plan({}, begun);
  if (first.decision !== "planned") throw new Error("not planned");
  let state: MessageState = first.state;
  const enter = (decided: { decision: string; state?: MessageState }): void => {
    if (decided.state !== undefined) state = decided.state;
    if (state.status !== statuses.at(-1)) statuses.push(state.status);
  };
  enter(first);

  const transport = sandbox();
  await transport.start?.({
    clock,
    logger: silent,
    sink: {
      async receipt(subject: ReceiptSubject, receipt: Receipt) {
        const known = attempts.some((each) =>
          "attempt_id" in subject
            ? each.attempt_id === subject.attempt_id
            : each.provider_message_id === subject.provider_message_id,
        );
        if (known) enter(applyEvidence(state, evidenceOf(receipt)));
        else if (!("attempt_id" in subject)) parked.push({ ...subject, receipt });
      },
      async inbound() {},
    },
  });
  const message: OutboundMessage = {
    message_id: "msg_01J00000000000000000000000",
    account_id: "acct_01J00000000000000000000000",
    mode: "sandbox",
    channel: "sms",
    from: "+15005559999",
    to,
    body: "Hello",
    media: [],
  };
  const step = async (): Promise<void> => {
    const decided = handOver(state, clock.now());
    if (decided.decision !== "wait") enter(decided);
    const last = attempts.at(-1);
    if (decided.decision === "send") {
      const number = decided.state.attempts;
      const attempt = {
        attempt_id: `att_01J${String(number).padStart(23, "0")}` as const,
        number,
        started_at: clock.now(),
        provider_message_id: null,
        signal: new AbortController().signal,
      };
      attempts.push(attempt);
      const answer = await transport.send(message, attempt);
      enter(applyAnswer(state, { number, answer }, clock.now()));
      if (answer.outcome === "accepted") {
        const { provider_message_id } = answer;
        attempts[number - 1] = { ...attempt, provider_message_id };
        for (const each of parked.filter(
          (one) => one.provider_message_id === provider_message_id,
        )) {
          enter(applyEvidence(state, evidenceOf(each.receipt)));
        }
      }
    } else if (
      state.status === "ambiguous" &&
      last !== undefined &&
      clock.now() - last.started_at >= 60_000
    ) {
      const found = await transport.lookup?.(message, last);
      if (found?.outcome === "not_sent") {
        enter(applyNotSent(state, { number: last.number }, clock.now()));
      }
    } else if (
      state.status === "sent" &&
      last !== undefined &&
      clock.now() - last.started_at >= 60_000
    ) {
      enter(applyReceiptTimeout(state, clock.now()));
    }
  };
  while (clock.now() - begun < 180_000) {
    await step();
    await clock.advance(100);
  }
  await transport.stop?.();
  return { statuses, calls: attempts.map(({ started_at }) => started_at - begun) };
}

describe("the lifecycle of a message", () => {
  const way = ["queued", "sending", "sent"];
  it.each([
    ["0001", [...way, "delivered"], [0]],
    ["0002", [...way, "delivered"], [0]],
    ["0003", [...way, "undelivered"], [0]],
    ["0004", [...way, "undelivered"], [0]],
    ["0005", ["queued", "sending", "failed"], [0]],
    ["0006", ["queued", "sending", "failed"], [0]],
    [
      "0007",
      ["queued", "sending", "queued", "sending", "queued", "sending", "sent", "delivered"],
      [0, 2_000, 4_000],
    ],
    [
      "0008",
      [
        "queued",
        "sending",
        "queued",
        "sending",
        "queued",
        "sending",
        "queued",
        "sending",
        "sent",
        "delivered",
      ],
      [0, 1_000, 6_000, 36_000],
    ],
    ["0009", [...way, "unconfirmed"], [0]],
    ["0010", [...way, "delivered"], [0]],
    ["0011", [...way, "delivered"], [0]],
    ["0012", [...way, "delivered"], [0]],
    ["0013", ["queued", "sending", "ambiguous", "sent", "delivered"], [0]],
    [
      "0014",
      ["queued", "sending", "ambiguous", "queued", "sending", "sent", "delivered"],
      [0, 60_100],
    ],
    ["0017", [...way, "delivered", "read"], [0]],
    ["0019", [...way, "delivered"], [0]],
  ])("to %s has the expected statuses and carrier calls", async (last, statuses, calls) => {
    expect(await lifeOf(`+1500555${last}`)).toEqual({ statuses, calls });
  });
});
