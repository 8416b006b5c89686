import { withDeadline } from "../../kernel/index.ts";
import type { Runtime } from "../../operations/index.ts";
import type { OutboundMessage, SendAnswer, Transport } from "../../ports/index.ts";
import type { MessageAndAttempt } from "../attempts/attempts.ts";
import type { AttemptRow, MessageRow } from "../rows.ts";
import { checkSendAnswer } from "../transport-results.ts";

/**
 * The deadline of a carrier call, in milliseconds. When an attempt is committed, at least half of
 * the lease is left (`renew`). So a call that begins soon afterwards ends before the lease does.
 */
export const callDeadlineMs = 25_000;

/** The result of a call to a carrier. */
export interface CallResult {
  /** The carrier's answer, or `ambiguous` if the call missed its deadline or failed. */
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
): Promise<CallResult | "not_called" | "aborted"> {
  const { clock, logger, transports } = runtime;
  const transport = transportFor(transports, attempt);
  if (transport === undefined) return refuseWithoutTransport(runtime, attempt);
  // The process may have stalled since the commit, for example because the machine slept. The lease
  // would then end during the call, or has ended, and another engine could call the carrier too.
  if (abort.aborted || clock.now() > attempt.leased_until - callDeadlineMs) {
    return "not_called";
  }
  const { id: attempt_id, number, started_at } = attempt;
  let sending: Promise<unknown> | undefined;
  try {
    return await withDeadline<CallResult>(
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

/**
 * Refuses an attempt whose transport this engine lacks, and logs it. A person has to set the
 * transport up or to change the routes.
 */
function refuseWithoutTransport(
  { logger, refusals }: Runtime,
  { transport, mode }: AttemptRow,
): CallResult {
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
