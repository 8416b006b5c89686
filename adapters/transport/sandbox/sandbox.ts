import type {
  OutboundMessage,
  Receipt,
  SendAnswer,
  SendContext,
  Transport,
  TransportContext,
} from "../../../src/ports/transport.ts";
import { sentences } from "../reasons.ts";
import {
  type Behaviour,
  behaviourOf,
  type CarrierAnswer,
  type PlannedReceipt,
  sandboxNumbers,
} from "./behaviours.ts";

/** Messages whose receipts are on their way at one time. What is beyond is found by look-up. */
const maxUnderWay = 10_000;

/**
 * A simulated carrier for SMS and MMS in sandbox mode, on the engine's clock. Twenty numbers (`+15005550001` to
 * `+15005550020`) each show one way that a message can go; any other is delivered.
 *
 * It keeps nothing: an attempt's id, number and time settle what becomes of it, so after a restart a look-up finds the
 * receipts that are overdue. (An attempt that was begun counts as one that the carrier saw; replies are not made up for.)
 */
export function sandbox(): Transport {
  const underWay = new Set<Promise<void>>();
  let context: TransportContext | undefined;
  let stopped = new AbortController();

  const follow = (attempt: Handed): void => {
    if (context === undefined || underWay.size >= maxUnderWay) return;
    const work: Promise<void> = play(attempt, context, stopped.signal).finally(() =>
      underWay.delete(work),
    );
    underWay.add(work);
  };

  return {
    name: "sandbox",
    capabilities: {
      channels: ["sms", "mms"],
      modes: ["sandbox"],
      receipts: { timeout_ms: 60_000, lookups_ms: [15_000, 35_000, 60_000] },
      confirms_opt_outs: false,
    },
    test_numbers: sandboxNumbers,

    async send(message, attempt) {
      if (context === undefined) {
        return rejected({ kind: "refused", code: "carrier_unavailable", permanent: false });
      }
      const behaviour = behaviourOf(message.to);
      const answer = behaviour.answer(attempt.number, message.channel);
      if (answer.kind === "refused") return rejected(answer);
      const handed: Handed = { message, attempt, behaviour, answerLost: answer.kind === "lost" };
      if (answer.kind === "accepted" || answer.sent) {
        await playEarly(handed, context);
        follow(handed);
      }
      return answer.kind === "accepted"
        ? { outcome: "accepted", provider_message_id: providerId(message.to, attempt) }
        : {
            outcome: "ambiguous",
            error: { code: "unknown", message: "The carrier's answer was lost." },
          };
    },

    async lookup(message, attempt) {
      const id = providerId(message.to, attempt);
      if (attempt.provider_message_id !== null && attempt.provider_message_id !== id) {
        return { outcome: "unknown" };
      }
      const behaviour = behaviourOf(message.to);
      const answer = behaviour.answer(attempt.number, message.channel);
      if (answer.kind === "refused" || (answer.kind === "lost" && !answer.sent)) {
        return { outcome: "not_sent" };
      }
      if (context === undefined) return { outcome: "unknown" };
      const passed = context.clock.now() - attempt.started_at;
      const receipts = behaviour.receipts.filter(({ at }) => at <= passed);
      return {
        outcome: "sent",
        provider_message_id: id,
        receipts: receipts.map((planned) => receiptOf(planned, attempt.started_at)),
      };
    },

    async start(given) {
      context = given;
      stopped = new AbortController();
    },

    async stop() {
      context = undefined;
      stopped.abort();
      await Promise.all(underWay);
    },
  };
}

/** A message that the simulated carrier took. */
interface Handed {
  readonly message: OutboundMessage;
  readonly attempt: SendContext;
  readonly behaviour: Behaviour;
  /** The engine doesn't know the provider's id, so receipts echo the attempt's. */
  readonly answerLost: boolean;
}

async function playEarly(handed: Handed, context: TransportContext): Promise<void> {
  for (const planned of handed.behaviour.receipts) {
    if (planned.arrives === "before_answer") {
      await bring(() => report(handed, planned, context), context);
    }
  }
}

/** Brings receipts and replies, each at its time, one after the other. Ends early when the transport stops. */
async function play(
  handed: Handed,
  context: TransportContext,
  stopped: AbortSignal,
): Promise<void> {
  const { message, attempt, behaviour } = handed;
  const receipts = behaviour.receipts.flatMap((planned) => {
    const { at, arrives = at } = planned;
    return arrives === "before_answer"
      ? []
      : [{ due: arrives, act: () => report(handed, planned, context) }];
  });
  const replies = behaviour.replies.map(({ at, body }, index) => ({
    due: at,
    act: () =>
      context.sink.inbound(
        {
          provider_message_id: `${providerId(message.to, attempt)}_reply${index + 1}`,
          channel: "sms",
          from: message.to,
          to: message.from,
          body: body(message.body),
          media: [],
          at: attempt.started_at + at,
        },
        message.account_id,
      ),
  }));
  for (const { due, act } of [...receipts, ...replies].toSorted((a, b) => a.due - b.due)) {
    await context.clock.sleep(Math.max(0, attempt.started_at + due - context.clock.now()), stopped);
    if (stopped.aborted) return;
    await bring(act, context);
  }
}

function report(
  handed: Handed,
  planned: PlannedReceipt,
  { sink }: TransportContext,
): Promise<void> {
  const { message, attempt, answerLost } = handed;
  const subject = answerLost
    ? { attempt_id: attempt.attempt_id }
    : { provider_message_id: providerId(message.to, attempt) };
  return sink.receipt(subject, receiptOf(planned, attempt.started_at));
}

/** What the engine could not take is lost, as with a carrier that gives up; a look-up finds it. */
async function bring(act: () => Promise<void>, { logger }: TransportContext): Promise<void> {
  try {
    await act();
  } catch (error) {
    logger.warn({ transport: "sandbox", error }, "what the sandbox's carrier said was not taken");
  }
}

/** The number's last four digits, the attempt and its time in base 36; the attempt's id makes it unique. */
function providerId(
  to: string,
  attempt: Pick<SendContext, "attempt_id" | "number" | "started_at">,
): string {
  const unique = attempt.attempt_id.slice(attempt.attempt_id.indexOf("_") + 1);
  return `sbx_${to.slice(-4)}_${attempt.number}_${Math.floor(attempt.started_at).toString(36)}_${unique}`;
}

function receiptOf({ status, at, code }: PlannedReceipt, startedAt: number): Receipt {
  const time = startedAt + at;
  return code === undefined
    ? { status, at: time }
    : { status, at: time, error: { code, message: sentences[code] } };
}

function rejected({
  code,
  permanent,
  retry_after_ms,
}: Extract<CarrierAnswer, { kind: "refused" }>): SendAnswer {
  const error = { code, message: sentences[code] };
  return {
    outcome: "rejected",
    error,
    permanent,
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  };
}
