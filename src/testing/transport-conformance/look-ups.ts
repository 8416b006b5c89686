import type { AttemptMade, LookupAnswer, OutboundMessage, SendContext } from "../../ports/index.ts";
import { holds, same } from "../storage-conformance/checks.ts";
import type { Bench, Case, Fate } from "./bench.ts";

async function lookUp(
  { transport, under }: Bench,
  message: OutboundMessage,
  { attempt_id, number, started_at }: Omit<SendContext, "signal">,
  provider_message_id: AttemptMade["provider_message_id"],
): Promise<LookupAnswer> {
  const before = under.taken?.();
  const attempt = { attempt_id, number, started_at, provider_message_id };
  const answer = (await transport.lookup?.(message, attempt)) ?? { outcome: "unknown" };
  same(under.taken?.(), before, "messages that the carrier has after a look-up");
  return answer;
}

const foundIn = (answer: LookupAnswer): readonly string[] => {
  if (answer.outcome === "sent") return [answer.provider_message_id];
  return answer.outcome === "alike"
    ? answer.messages.map(({ provider_message_id }) => provider_message_id)
    : [];
};

async function neverDenied(bench: Bench, fate: Fate): Promise<void> {
  const message = bench.under.message(fate);
  const deadline = new AbortController();
  const attempt = bench.attempt(deadline.signal);
  const sending = bench.send(message, attempt).catch(() => {});
  // One that hangs is left alone, as the engine leaves it.
  if (fate === "hangs") await bench.clock.settle();
  else await sending;
  deadline.abort();
  const { outcome } = await lookUp(bench, message, attempt, null);
  holds(outcome !== "not_sent", "a message that the carrier has was called unsent");
}

export const lookupCases: Readonly<Record<string, Case>> = {
  "find a message by what the carrier calls it": {
    needs: ["accepts", "look-ups"],
    async run(bench) {
      const { message, provider_message_id, attempt_id } = await bench.taken();
      const attempt = { ...bench.attempt(), attempt_id };
      const answer = await lookUp(bench, message, attempt, provider_message_id);
      same([answer.outcome, ...foundIn(answer)], ["sent", provider_message_id], "what was found");
    },
  },
  "never deny a message whose answer was lost": {
    needs: ["loses_answer", "look-ups"],
    run: (bench) => neverDenied(bench, "loses_answer"),
  },
  "never deny a message at which the carrier failed": {
    needs: ["fails", "look-ups"],
    run: (bench) => neverDenied(bench, "fails"),
  },
  "never deny a message whose answer is still out": {
    needs: ["hangs", "look-ups"],
    run: (bench) => neverDenied(bench, "hangs"),
  },
  "don't take another message for it": {
    needs: ["accepts", "look-ups"],
    async run(bench) {
      const { message, provider_message_id } = await bench.taken();
      const other = { ...message, body: `${message.body} Another one.` };
      const answer = await lookUp(bench, other, bench.attempt(), null);
      holds(!foundIn(answer).includes(provider_message_id), "a message with other words was found");
    },
  },
};
