import type {
  LookupAnswer,
  OutboundMessage,
  SendAnswer,
  SendContext,
  Transport,
  TransportSink,
} from "../../src/ports/transport.ts";
import { maxDelayMs } from "./faults.ts";
import { type Lifetime, never } from "./lifetime.ts";
import { shortId } from "./trace.ts";
import type { World } from "./world.ts";

/** One engine's transport to the carrier. It delays and loses calls and answers. */
export interface CarrierTransport {
  readonly transport: Transport;
  /** Where the carrier delivers receipts and inbound messages, while the engine runs. */
  readonly sink: () => TransportSink | undefined;
}

export function carrierTransport(
  world: World,
  lifetime: Lifetime,
  name: string,
  crash: (why: string) => void,
): CarrierTransport {
  const { dice, clock, carrier } = world;
  let sink: TransportSink | undefined;

  const send = async (
    message: OutboundMessage,
    { attempt_id, number, signal }: SendContext,
  ): Promise<SendAnswer> => {
    const { faults } = world;
    const note = (text: string): void =>
      world.trace.note(
        [lifetime.name, message.message_id],
        `${lifetime.name} ${text} ${shortId(message.message_id)}`,
      );
    if (dice.chance(faults.crashAtCarrierCall / 2)) {
      crash(`before it calls the carrier with ${shortId(message.message_id)}`);
      return never();
    }
    if (dice.chance(faults.callFailsBefore)) {
      note("cannot reach the carrier with");
      throw new Error("connection refused");
    }
    if (dice.chance(faults.callDelayed)) await clock.sleep(dice.between(1, maxDelayMs.carrierCall));
    // A caller that aborts in time takes the call back. A caller that crashes does not.
    if (signal.aborted) throw new Error("aborted before it reached the carrier");
    const answer = carrier.handleCall(lifetime.name, name, message, { attempt_id, number });
    if (dice.chance(faults.crashAtCarrierCall / 2)) {
      crash(`before it gets the carrier's answer to ${shortId(message.message_id)}`);
      return never();
    }
    if (dice.chance(faults.callFailsAfter)) {
      note("loses the carrier's answer to");
      const how = dice.between(0, 2);
      if (how === 0) throw new Error("connection reset");
      if (how === 1) {
        return {
          outcome: "ambiguous",
          error: { code: "unknown", message: "The connection broke." },
        };
      }
      return never();
    }
    if (dice.chance(faults.answerDelayed)) {
      const limit = dice.chance(0.8) ? maxDelayMs.commit : maxDelayMs.carrierAnswer;
      await clock.sleep(dice.between(1, limit));
    }
    return answer;
  };

  const lookup: Transport["lookup"] = async (message, attempt): Promise<LookupAnswer> => {
    const { lookupFails } = world.faults;
    if (dice.chance(lookupFails)) {
      if (dice.chance(0.5)) throw new Error("connection refused");
      await clock.sleep(dice.between(1, maxDelayMs.lookup));
    }
    return lifetime.isAlive ? carrier.lookup(message, attempt) : never();
  };

  return {
    sink: () => (lifetime.isAlive ? sink : undefined),
    transport: {
      name,
      capabilities: {
        channels: ["sms", "mms"],
        modes: ["live"],
        receipts: world.hasReceipts
          ? { timeout_ms: 240_000, lookups_ms: [30_000, 100_000] }
          : "none",
        confirms_opt_outs: world.settings.carrierConfirmsOptOuts,
      },
      send: (message, context) =>
        lifetime.isAlive ? lifetime.guard(send(message, context)) : never(),
      ...(world.hasLookup
        ? { lookup: (message, attempt) => lifetime.guard(lookup(message, attempt)) }
        : {}),
      start: async (context) => {
        sink = context.sink;
      },
      stop: async () => {
        sink = undefined;
      },
    },
  };
}
