import { refuseArguments } from "../../../src/kernel/index.ts";
import type {
  LookupAnswer,
  LookupContext,
  OutboundMessage,
  Receipt,
  SendAnswer,
  SendContext,
  Transport,
  TransportContext,
} from "../../../src/ports/index.ts";
import { carrierError } from "../carrier-errors.ts";
import {
  behaviorOf,
  sandboxNumbers,
  type Behavior,
  type CarrierAnswer,
  type PlannedReceipt,
} from "./behaviors.ts";

/**
 * How many messages are tracked at a time, from hand-over to last receipt. The engine learns the
 * outcome of further messages by look-ups.
 */
const maxTracked = 10_000;

/**
 * Returns a simulated carrier for SMS and MMS in sandbox mode, on the engine's clock. Each of the
 * 20 numbers from `+15005550001` to `+15005550020` shows one outcome of a message. A message to any
 * other number is delivered.
 *
 * The transport stores nothing. An attempt's id, number and time determine its outcome, so a
 * look-up after a restart finds the receipts that are due. After a restart, every attempt that
 * began counts as one that the carrier received, and pending replies are lost.
 */
export function sandbox(): Transport;
export function sandbox(...given: readonly unknown[]): Transport {
  refuseArguments("sandbox", given);
  const tracked = new Set<Promise<void>>();
  let context: TransportContext | undefined;
  let stopped = new AbortController();

  const track = (sent: SentMessage): void => {
    if (context === undefined || tracked.size >= maxTracked) return;
    const done: Promise<void> = deliver(sent, context, stopped.signal).finally(() =>
      tracked.delete(done),
    );
    tracked.add(done);
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
      const behavior = behaviorOf(message.to);
      const answer = behavior.answer(attempt.number, message.channel);
      if (answer.kind === "refused") return rejected(answer);
      const sent: SentMessage = { message, attempt, behavior, answerLost: answer.kind === "lost" };
      if (answer.kind === "accepted" || answer.sent) {
        await deliverEarly(sent, context);
        track(sent);
      }
      return answer.kind === "accepted"
        ? { outcome: "accepted", provider_message_id: providerId(message.to, attempt) }
        : answerLost;
    },

    async lookup(message, attempt) {
      return lookup(message, attempt, context?.clock.now());
    },

    async start(given) {
      context = given;
      stopped = new AbortController();
    },

    async stop() {
      context = undefined;
      stopped.abort();
      await Promise.all(tracked);
    },
  };
}

const answerLost: SendAnswer = {
  outcome: "ambiguous",
  error: { code: "unknown", message: "The carrier's answer was lost." },
};

/** `now` is undefined while the transport is stopped. */
function lookup(
  message: OutboundMessage,
  attempt: LookupContext,
  now: number | undefined,
): LookupAnswer {
  const id = providerId(message.to, attempt);
  if (attempt.provider_message_id !== null && attempt.provider_message_id !== id) {
    return { outcome: "unknown" };
  }
  const behavior = behaviorOf(message.to);
  const answer = behavior.answer(attempt.number, message.channel);
  if (answer.kind === "refused" || (answer.kind === "lost" && !answer.sent)) {
    return { outcome: "not_sent" };
  }
  if (now === undefined) return { outcome: "unknown" };
  const receipts = behavior.receipts.filter(({ at }) => at <= now - attempt.started_at);
  return {
    outcome: "sent",
    provider_message_id: id,
    receipts: receipts.map((planned) => receiptOf(planned, attempt.started_at)),
  };
}

/** A message that the simulated carrier sent. */
interface SentMessage {
  readonly message: OutboundMessage;
  readonly attempt: SendContext;
  readonly behavior: Behavior;
  /** The engine does not know the provider's id, so receipts name the attempt instead. */
  readonly answerLost: boolean;
}

/** Delivers the receipts that come before the answer to the send request. */
async function deliverEarly(sent: SentMessage, context: TransportContext): Promise<void> {
  for (const planned of sent.behavior.receipts) {
    if (planned.arrives === "before_answer") {
      await logFailure(() => report(sent, planned, context), context);
    }
  }
}

/**
 * Delivers receipts and replies one after the other, each at its time. Ends early when the
 * transport stops.
 */
async function deliver(
  sent: SentMessage,
  context: TransportContext,
  stopped: AbortSignal,
): Promise<void> {
  const { message, attempt, behavior } = sent;
  const receipts = behavior.receipts.flatMap((planned) => {
    const { at, arrives = at } = planned;
    return arrives === "before_answer"
      ? []
      : [{ due: arrives, act: () => report(sent, planned, context) }];
  });
  const replies = behavior.replies.map(({ at, body }, index) => ({
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
    await logFailure(act, context);
  }
}

function report(
  sent: SentMessage,
  planned: PlannedReceipt,
  { sink }: TransportContext,
): Promise<void> {
  const { message, attempt, answerLost } = sent;
  const subject = answerLost
    ? { attempt_id: attempt.attempt_id }
    : { provider_message_id: providerId(message.to, attempt) };
  return sink.receipt(subject, receiptOf(planned, attempt.started_at));
}

/**
 * Logs a receipt or reply that the engine could not store. A look-up finds the receipt later, as
 * with a carrier that stops retrying. A reply is lost.
 */
async function logFailure(act: () => Promise<void>, { logger }: TransportContext): Promise<void> {
  try {
    await act();
  } catch (error) {
    logger.warn(
      { transport: "sandbox", err: error },
      "the sandbox could not deliver a receipt or reply",
    );
  }
}

/**
 * Builds the provider's message id from the number's last four digits, the attempt's number, its
 * time in base 36, and the attempt's id, which makes it unique.
 */
function providerId(
  to: string,
  attempt: Pick<SendContext, "attempt_id" | "number" | "started_at">,
): string {
  const unique = attempt.attempt_id.slice(attempt.attempt_id.indexOf("_") + 1);
  const started = Math.floor(attempt.started_at).toString(36);
  return `sbx_${to.slice(-4)}_${attempt.number}_${started}_${unique}`;
}

function receiptOf({ status, at, code }: PlannedReceipt, startedAt: number): Receipt {
  const time = startedAt + at;
  return code === undefined
    ? { status, at: time }
    : { status, at: time, error: carrierError(code) };
}

function rejected({
  code,
  permanent,
  retry_after_ms,
}: Extract<CarrierAnswer, { kind: "refused" }>): SendAnswer {
  return {
    outcome: "rejected",
    error: carrierError(code),
    permanent,
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  };
}
