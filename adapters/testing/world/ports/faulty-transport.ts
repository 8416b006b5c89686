import type {
  LookupAnswer,
  OutboundMessage,
  SendAnswer,
  SendContext,
  Transport,
} from "../../../../src/ports/index.ts";
import { callWhileAlive, never } from "../engine-run.ts";
import { maxDelayMs } from "../faults.ts";
import type { RunContext } from "../run-context.ts";
import { shortId } from "../story.ts";

/** An engine's connection to its carrier. Calls and answers are slow and get lost. */
export function faultyTransport(context: RunContext, carrier: Transport): Transport {
  const { run } = context;
  const lookup = carrier.lookup?.bind(carrier);
  const parseCallback = carrier.parseCallback?.bind(carrier);
  const guarded = <T>(call: () => Promise<T>): Promise<T> => callWhileAlive(run, call);
  return {
    name: carrier.name,
    capabilities: carrier.capabilities,
    ...(carrier.test_numbers === undefined ? {} : { test_numbers: carrier.test_numbers }),
    send: (message, attempt) => guarded(() => send(context, carrier, message, attempt)),
    ...(lookup === undefined
      ? {}
      : {
          lookup: (message, attempt) =>
            guarded(() => lookUp(context, () => lookup(message, attempt))),
        }),
    ...(parseCallback === undefined
      ? {}
      : { parseCallback: (request) => guarded(() => parseCallback(request)) }),
    start: async (started) => carrier.start?.(started),
    stop: async () => carrier.stop?.(),
  };
}

async function send(
  { world, run, occurs, crash, isCutOff }: RunContext,
  carrier: Transport,
  message: OutboundMessage,
  attempt: SendContext,
): Promise<SendAnswer> {
  const { dice, clock, story } = world;
  const id = shortId(message.message_id);
  const note = (text: string): void =>
    story.note([run.name, message.message_id], `${run.name} ${text} ${id}`);
  if (occurs("crashBeforeSend", { call: "send" })) {
    crash(`before it calls the carrier with ${id}`);
    return never();
  }
  if (isCutOff("carrier") || occurs("sendFailsBefore", { call: "send" })) {
    note("cannot reach the carrier with");
    throw new Error("connection refused");
  }
  if (occurs("sendSlow", { call: "send" })) {
    await clock.sleep(dice.between(1, maxDelayMs.carrierCall));
  }
  // A caller that aborts in time cancels the call. A caller that crashes does not.
  if (attempt.signal.aborted) throw new Error("aborted before it reached the carrier");
  const answer = await carrier.send(message, attempt);
  if (occurs("crashAfterSend", { call: "send" })) {
    // Before the crash, the process can respond to the caller whose commit began the send.
    await clock.sleep(1);
    crash(`before it gets the carrier's answer to ${id}`);
    return never();
  }
  if (isCutOff("carrier") || occurs("sendFailsAfter", { call: "send" })) {
    note("loses the carrier's answer to");
    return loseAnswer(dice.between(0, 2));
  }
  if (occurs("sendAnswerSlow", { call: "send" })) {
    const limit = dice.chance(0.8) ? maxDelayMs.commit : maxDelayMs.carrierAnswer;
    await clock.sleep(dice.between(1, limit));
  }
  return answer;
}

/** A carrier's adapter may throw, report that it does not know, or never answer. */
async function loseAnswer(how: number): Promise<SendAnswer> {
  if (how === 0) throw new Error("connection reset");
  if (how === 1) {
    return { outcome: "ambiguous", error: { code: "unknown", message: "The connection broke." } };
  }
  return never();
}

async function lookUp(
  { world, run, occurs, isCutOff }: RunContext,
  lookup: () => Promise<LookupAnswer>,
): Promise<LookupAnswer> {
  const { dice, clock } = world;
  if (isCutOff("carrier")) throw new Error("connection refused");
  if (occurs("lookupFails", { call: "look-up" })) {
    if (dice.chance(0.5)) throw new Error("connection refused");
    await clock.sleep(dice.between(1, maxDelayMs.lookup));
  }
  return run.isAlive ? lookup() : never();
}
