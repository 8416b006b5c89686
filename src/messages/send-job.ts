import { handOverMessage } from "./hand-over.ts";
import { recordAnswer } from "./record-answer.ts";
import type { Carriers } from "./carriers.ts";
import { withDeadline } from "../queue/deadline.ts";
import { insist } from "../queue/insist.ts";
import { type JobHandler, leaseMs } from "../queue/dispatcher.ts";
import { finish } from "../queue/rows.ts";
import type { AttemptRow, MessageRow } from "./rows.ts";
import type { HostPolicies } from "../operations/host-policies.ts";
import type { DrawId } from "../kernel/ids.ts";
import type { Services } from "../operations/operation.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { OutboundMessage, SendAnswer, Transport } from "../ports/transport.ts";
import type { Store } from "../store/store.ts";
import { awaitTransport } from "./await-transport.ts";
import { errorFacts } from "../queue/error-facts.ts";
import { scopeOf } from "../queue/scope.ts";

export interface CarrierWork {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly drawId: DrawId;
  readonly services: Services;
  readonly policies: HostPolicies;
  readonly transports: readonly Transport[];
  readonly carriers: Carriers;
}

/** How long a carrier may take to answer. Less than half a lease, which is what is left of one at each hand-over. */
export const deadlineMs = 25_000;
const own = { own: true } as const;
/** Messages of one conversation in one go; then others have their turn. */
const mostInARow = 50;

/** Hands over what is queued in a conversation, in order, one at a time. */
export function sendHandler(work: CarrierWork): JobHandler {
  const { store, clock, logger, drawId, services, policies, transports, carriers } = work;
  return {
    kind: "send",
    async run(claim, { abort, isStopping }) {
      const scope = scopeOf(claim);
      for (let i = 0; !abort.aborted; i++) {
        const last = i >= mostInARow || isStopping();
        const handed = await policies.commit(
          scope,
          async (tx, hostOpinions) => {
            if (await awaitTransport(tx, claim, carriers, drawId)) return undefined;
            return handOverMessage(tx, claim, { leaseMs, services, hostOpinions, carriers, last });
          },
          own,
        );
        if (handed === undefined) return;
        const transport = transportFor(transports, handed.attempt);
        const called = await call(transport, handed.message, handed.attempt, {
          clock,
          logger,
          abort,
        });
        // Nobody knows whether the call goes on: whoever finds its lease lapsed looks after it.
        if (called === "aborted") return;
        const { answer, late } = called;
        const isMore = await insist(clock, abort, () =>
          store.commit(
            scope,
            async (tx) => {
              const more = await recordAnswer(tx, claim, handed, answer, services, carriers);
              // A carrier that hangs gets what is left by the slow lane.
              if (late !== undefined) await finish(tx, claim, { againAt: tx.now, failed: true });
              return more;
            },
            own,
          ),
        );
        if (late === undefined) {
          if (isMore) continue;
          return;
        }
        const record = (said: SendAnswer): Promise<boolean> =>
          insist(clock, abort, () =>
            store.commit(
              scope,
              (tx) => recordAnswer(tx, claim, handed, said, services, carriers),
              own,
            ),
          );
        void late.then(
          (said) =>
            record(said).catch((error: unknown) => {
              logger.warn(
                { err: error, attempt_id: handed.attempt.id },
                "an answer that came late was lost",
              );
            }),
          // The call heeded its deadline, or fell silent for good: that is known already.
          () => {},
        );
        return;
      }
    },
  };
}

interface CallOptions extends Pick<CarrierWork, "clock" | "logger"> {
  readonly abort: AbortSignal;
}

interface Called {
  readonly answer: SendAnswer;
  /** What the carrier says after all, where it did not in time. */
  readonly late?: Promise<SendAnswer> | undefined;
}

/** Calls the carrier. What is not an answer in time is no answer: nobody knows whether the message left. */
async function call(
  transport: Transport | undefined,
  message: MessageRow,
  attempt: AttemptRow,
  { clock, logger, abort }: CallOptions,
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
      abort,
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
 * Whom to call for an attempt. What had its name when the message was made may be another one since: one of the other mode is never called.
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
