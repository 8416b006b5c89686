import { withDeadline } from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import type { OutboundMessage, SendAnswer, Transport } from "../../ports/index.ts";
import type { MessageAndAttempt } from "../attempts/attempts.ts";
import type { AttemptRow, MessageRow } from "../rows.ts";
import { checkSendAnswer } from "../transport-results.ts";

/**
 * The deadline of a carrier call, in milliseconds. A hand-over leaves at least half a lease
 * (`renew`), so a call that begins soon after it ends before the lease does.
 */
export const callDeadlineMs = 25_000;

/** What a call to a carrier led to. */
export interface Called {
  /** The carrier's answer. If the call missed its deadline: that the answer is lost. */
  readonly answer: SendAnswer;
  /** The call, if it missed its deadline. Its answer may still arrive. */
  readonly unfinishedCall?: Promise<unknown> | undefined;
}

/**
 * Calls the carrier with an attempt. A call that misses its deadline counts as unanswered. Returns
 * `not_called` if `abort` or the end of the lease came first, and `aborted` if `abort` came during
 * the call.
 */
export async function callCarrier(
  runtime: Runtime,
  { message, attempt }: MessageAndAttempt,
  abort: AbortSignal,
): Promise<Called | "not_called" | "aborted"> {
  const { clock, logger, transports } = runtime;
  const transport = transportFor(transports, attempt);
  if (transport === undefined) {
    return notSetUp(runtime, attempt);
  }
  // The process may have stalled since the hand-over, for example because the machine slept.
  // Another engine may take the job during the call, or has taken it already.
  if (abort.aborted || clock.now() > attempt.leased_until - callDeadlineMs) {
    return "not_called";
  }
  const { id: attempt_id, number, started_at } = attempt;
  let sending: Promise<unknown> | undefined;
  try {
    return await withDeadline<Called>(
      clock,
      callDeadlineMs,
      async (signal) => {
        const context = { attempt_id, number, started_at, signal };
        // A transport may return any thenable. Its `then` is called only once.
        sending = Promise.resolve(transport.send(outbound(message), context));
        const answer = await sending;
        checkSendAnswer(transport.name, answer);
        reportRefusal(runtime, attempt, answer);
        return { answer };
      },
      () => ({
        answer: ambiguous(
          "answer_lost",
          "The carrier did not answer in time; its call may still go on.",
        ),
        unfinishedCall: sending,
      }),
      abort,
    );
  } catch (error) {
    if (abort.aborted) return "aborted";
    logger.warn(
      { err: error, transport: transport.name, attempt_id },
      "a transport failed; its answer is lost",
    );
    return { answer: ambiguous("unknown", "The transport failed without an answer.") };
  }
}

/**
 * Logs a refusal that concerns all messages of a transport. A person has to know of it, and until
 * the last attempt only the timelines of the messages would show it. A sandbox simulates outages,
 * so only those of live mode are logged.
 */
function reportRefusal(
  { logger, refusals }: Runtime,
  { transport, mode }: Pick<AttemptRow, "transport" | "mode">,
  answer: SendAnswer,
): void {
  if (answer.outcome === "accepted") return;
  const { code } = answer.error;
  if (code !== "unauthorized" && (code !== "carrier_unavailable" || mode !== "live")) return;
  const noted = refusals.note(`${code} ${transport}`);
  if (noted === undefined) return;
  const text = {
    unauthorized: "a carrier refused the transport's credentials",
    carrier_unavailable: "a carrier is unavailable",
  };
  logger.warn({ transport, calls: noted.count }, text[code]);
}

/** Logs that this engine lacks the transport. A person has to set it up or to change the routes. */
function notSetUp({ logger, refusals }: Runtime, { transport, mode }: AttemptRow): Called {
  const noted = refusals.note(`lacks ${mode} ${transport}`);
  if (noted !== undefined) {
    logger.warn({ transport, mode, calls: noted.count }, "a transport is not set up in a mode");
  }
  const message = `No transport ${transport} is set up here for ${mode}.`;
  const error = { code: "carrier_unavailable", message } as const;
  return { answer: { outcome: "rejected", error, permanent: false } };
}

function ambiguous(code: "answer_lost" | "unknown", message: string): SendAnswer {
  return { outcome: "ambiguous", error: { code, message } };
}

/**
 * Returns the transport of an attempt. Checks the mode too, because another transport may have
 * taken the name since.
 */
export function transportFor(
  transports: readonly Transport[],
  { transport, mode }: Pick<AttemptRow, "transport" | "mode">,
): Transport | undefined {
  return transports.find(
    ({ name, capabilities }) => name === transport && capabilities.modes.includes(mode),
  );
}

/** Returns a message in the form that transports receive. */
export function outbound(row: MessageRow): OutboundMessage {
  const { id: message_id, account_id, mode, channel, from, to, body, media } = row;
  return { message_id, account_id, mode, channel, from, to, body: body ?? "", media };
}
