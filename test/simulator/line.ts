import type {
  LookupAnswer,
  OutboundMessage,
  SendAnswer,
  SendContext,
  Transport,
  TransportSink,
} from "../../src/ports/transport.ts";
import { longest } from "./faults.ts";
import { type Life, never } from "./life.ts";
import { short } from "./trace.ts";
import type { World } from "./world.ts";

export const carrierName = "carrier";
/** A second way to it, for messages that the first did not take. */
export const spareName = "spare";

/** One engine's line to the carrier, over which calls and answers get delayed and lost. */
export interface Line {
  readonly transport: Transport;
  /** Where the carrier brings what it has to say, while the engine runs. */
  readonly sink: () => TransportSink | undefined;
}

export function line(world: World, life: Life, name: string, crash: (why: string) => void): Line {
  const { dice, clock, carrier } = world;
  let sink: TransportSink | undefined;

  const send = async (
    message: OutboundMessage,
    { attempt_id, number, signal }: SendContext,
  ): Promise<SendAnswer> => {
    const { faults } = world;
    const note = (says: string): void =>
      world.trace.note(
        [life.name, message.message_id],
        `${life.name} ${says} ${short(message.message_id)}`,
      );
    if (dice.chance(faults.crashAtCall / 2)) {
      crash(`before its call with ${short(message.message_id)} left`);
      return never();
    }
    if (dice.chance(faults.callFailsBefore)) {
      note("can't reach the carrier with");
      throw new Error("connection refused");
    }
    if (dice.chance(faults.callDelayed)) await clock.sleep(dice.between(1, longest.transit));
    // A caller that hung up while the call was under way has taken it back; one that died has not.
    if (signal.aborted) throw new Error("aborted on its way");
    const answer = carrier.take(life.name, name, message, { attempt_id, number });
    if (dice.chance(faults.crashAtCall / 2)) {
      crash(`before it heard the carrier's answer to ${short(message.message_id)}`);
      return never();
    }
    if (dice.chance(faults.callFailsAfter)) {
      note("loses the carrier's answer to");
      const how = dice.between(0, 2);
      if (how === 0) throw new Error("connection reset");
      if (how === 1) {
        return { outcome: "ambiguous", error: { code: "unknown", message: "The line broke." } };
      }
      return never();
    }
    if (dice.chance(faults.answerDelayed)) {
      await clock.sleep(dice.between(1, dice.chance(0.8) ? longest.commit : longest.answer));
    }
    return answer;
  };

  const lookup: Transport["lookup"] = async (message, attempt): Promise<LookupAnswer> => {
    const { lookupFails } = world.faults;
    if (dice.chance(lookupFails)) {
      if (dice.chance(0.5)) throw new Error("no line");
      await clock.sleep(dice.between(1, longest.lookup));
    }
    return life.alive ? carrier.lookup(message, attempt) : never();
  };

  return {
    sink: () => (life.alive ? sink : undefined),
    transport: {
      name,
      capabilities: {
        channels: ["sms", "mms"],
        modes: ["live"],
        receipts: world.hasReceipts
          ? { timeout_ms: 240_000, lookups_ms: [30_000, 100_000] }
          : "none",
        confirms_opt_outs: world.terms.carrierConfirms,
      },
      send: (message, context) => (life.alive ? life.guard(send(message, context)) : never()),
      ...(world.canLookUp
        ? { lookup: (message, attempt) => life.guard(lookup(message, attempt)) }
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
