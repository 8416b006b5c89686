import { handOverMessage } from "./hand-over.ts";
import { recordAnswer } from "./record-answer.ts";
import type { HandedOver } from "./settle-attempt.ts";
import { withDeadline } from "../kernel/index.ts";
import {
  type Claim,
  errorFacts,
  finish,
  type JobHandler,
  type JobRun,
  leaseMs,
  retry,
} from "../queue/index.ts";
import type { AttemptRow, MessageRow } from "./rows.ts";
import type { OutboundMessage, SendAnswer, Transport } from "../ports/index.ts";
import type { CarrierRuntime } from "./carriers.ts";
import { awaitTransport } from "./await-transport.ts";

/** How long a carrier may take to answer: less than half a lease, which is the least that is left at a hand-over. */
export const deadlineMs = 25_000;
const own = { own: true } as const;
/** Messages of one conversation in one run. Then other jobs have their turn. */
const maxInARow = 50;

/** Hands over what is queued in a conversation, in order, one message at a time. */
export function sendQueued(runtime: CarrierRuntime): JobHandler<"send"> {
  return async (claim, run) => {
    for (let i = 0; !run.abort.aborted; i++) {
      const handed = await handOver(runtime, claim, i >= maxInARow || run.isStopping());
      if (handed === undefined) return;
      const transport = transportFor(runtime.transports, handed.attempt);
      const called = await call(runtime, transport, handed.message, handed.attempt, run.abort);
      // Nobody knows whether the call goes on. An engine that finds the lease lapsed looks the attempt up.
      if (called === "aborted") return;
      if (called.late !== undefined) return endLate(runtime, claim, run, handed, called);
      if (!(await record(runtime, claim, run, handed, called.answer))) return;
    }
  };
}

/** Undefined when nothing is handed over now: the job is given back. */
function handOver(
  { hostPolicies, services, carriers, drawId }: CarrierRuntime,
  claim: Claim<"send">,
  last: boolean,
): Promise<HandedOver | undefined> {
  return hostPolicies.commit(
    claim,
    async (tx, hostOpinions) => {
      if (await awaitTransport(tx, claim, carriers, drawId)) return undefined;
      return handOverMessage(tx, claim, { leaseMs, services, hostOpinions, carriers, last });
    },
    own,
  );
}

/** Returns whether there is more to hand over. The answer is known here alone, so the commit is retried. */
function record(
  { store, clock, services, carriers }: CarrierRuntime,
  claim: Claim<"send">,
  { abort }: JobRun,
  handed: HandedOver,
  answer: SendAnswer,
): Promise<boolean> {
  return retry(clock, abort, () =>
    store.commit(claim, (tx) => recordAnswer(tx, claim, handed, answer, services, carriers), own),
  );
}

/** Records that the carrier did not answer in time, and the answer when it comes after all. */
async function endLate(
  runtime: CarrierRuntime,
  claim: Claim<"send">,
  run: JobRun,
  handed: HandedOver,
  { answer, late }: Called,
): Promise<void> {
  const { store, clock, logger, services, carriers } = runtime;
  await retry(clock, run.abort, () =>
    store.commit(
      claim,
      async (tx) => {
        await recordAnswer(tx, claim, handed, answer, services, carriers);
        // The slow lane: a carrier that hangs must not take the places of others.
        await finish(tx, claim, { againAt: tx.now, failed: true });
      },
      own,
    ),
  );
  void late?.then(
    (lateAnswer) =>
      record(runtime, claim, run, handed, lateAnswer).catch((error: unknown) => {
        const attempt_id = handed.attempt.id;
        logger.warn({ err: error, attempt_id }, "a late answer of a carrier could not be recorded");
      }),
    // The call ended at its deadline, which is recorded already.
    () => {},
  );
}

interface Called {
  readonly answer: SendAnswer;
  /** The call, when it missed its deadline: its answer may still come. */
  readonly late?: Promise<SendAnswer> | undefined;
}

/** Calls the carrier. A call that misses its deadline counts as unanswered: nobody knows whether the message was sent. */
async function call(
  { clock, logger }: CarrierRuntime,
  transport: Transport | undefined,
  message: MessageRow,
  attempt: AttemptRow,
  abort: AbortSignal,
): Promise<Called | "aborted"> {
  if (transport === undefined) {
    const error = {
      code: "carrier_unavailable",
      message: `No transport ${attempt.transport} is set up here for ${attempt.mode}.`,
    } as const;
    return { answer: { outcome: "rejected", error, permanent: false } };
  }
  const { id: attempt_id, number, started_at } = attempt;
  let sending: Promise<SendAnswer> | undefined;
  try {
    return await withDeadline<Called>(
      clock,
      deadlineMs,
      async (signal) => {
        sending = transport.send(outbound(message), { attempt_id, number, started_at, signal });
        return { answer: await sending };
      },
      () => ({
        answer: ambiguous(
          "answer_lost",
          "The carrier did not answer in time; its call may still go on.",
        ),
        late: sending,
      }),
      abort,
    );
  } catch (error) {
    if (abort.aborted) return "aborted";
    logger.warn(
      { err: errorFacts(error), transport: transport.name, attempt_id },
      "a transport threw; its answer is lost",
    );
    return { answer: ambiguous("unknown", "The transport failed without an answer.") };
  }
}

function ambiguous(code: "answer_lost" | "unknown", message: string): SendAnswer {
  return { outcome: "ambiguous", error: { code, message } };
}

/**
 * The transport of an attempt. Another transport may have taken its name since the message was created; a transport of the
 * other mode is never called.
 */
export function transportFor(
  transports: readonly Transport[],
  { transport, mode }: Pick<AttemptRow, "transport" | "mode">,
): Transport | undefined {
  return transports.find(
    ({ name, capabilities }) => name === transport && capabilities.modes.includes(mode),
  );
}

export function outbound(row: MessageRow): OutboundMessage {
  const { id: message_id, account_id, mode, channel, from, to, body, media } = row;
  return { message_id, account_id, mode, channel, from, to, body: body ?? "", media };
}
