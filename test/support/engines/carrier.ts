/** A carrier whose answers a test scripts, and which records its calls. */
import type { CarrierErrorCode } from "../../../src/ports/carrier-errors.ts";
import type {
  LookupAnswer,
  LookupContext,
  OutboundMessage,
  Receipt,
  ReceiptSubject,
  SendAnswer,
  SendContext,
  Transport,
  TransportCapabilities,
  TransportContext,
  TransportSink,
} from "../../../src/ports/transport.ts";

export interface CarrierCall {
  readonly message: OutboundMessage;
  readonly attempt: SendContext;
  /** When the call came, by the engine's clock. */
  readonly at: number;
}

export interface Script extends Partial<TransportCapabilities> {
  readonly name?: string;
  /** The answer to a call. By default it is accepted, with `providerId` as the message's id. */
  readonly send?: (
    message: OutboundMessage,
    attempt: SendContext,
  ) => SendAnswer | Promise<SendAnswer>;
  /** Without it, the carrier has no look-ups. */
  readonly lookup?: (
    message: OutboundMessage,
    attempt: LookupContext,
  ) => LookupAnswer | Promise<LookupAnswer>;
}

export interface ReportOptions {
  /** The index of the call that the receipt is about. Default: 0. */
  readonly call?: number;
  /** The ids that name the attempt: the engine's, the provider's, or both. Default: the engine's. */
  readonly by?: "attempt" | "provider" | "both";
  readonly error?: Receipt["error"] | undefined;
  /** Default: now. */
  readonly at?: number;
}

export interface Carrier extends Transport {
  readonly calls: CarrierCall[];
  /** The attempt of the call with this index, by default of the first. Throws if there is none. */
  attempt(call?: number): SendContext;
  /** Delivers a receipt. */
  report(status: Receipt["status"], options?: ReportOptions): Promise<void>;
  readonly lookups: { readonly attempt: LookupContext; readonly at: number }[];
  /** How often it was started and stopped. */
  readonly starts: number;
  readonly stops: number;
  /** Where it delivers receipts and inbound messages. Throws while it is not started. */
  sink(): TransportSink;
}

/**
 * Messages of a mode that the carrier does not serve. `no-strays.ts` checks that there are none.
 */
export const strays: OutboundMessage[] = [];

export const providerId = ({ attempt_id }: Pick<SendContext, "attempt_id">): string =>
  `p-${attempt_id}`;

export const accepted = (attempt: Pick<SendContext, "attempt_id">): SendAnswer => ({
  outcome: "accepted",
  provider_message_id: providerId(attempt),
});

/** Not sent, and not worth a retry. */
export const refusal = (code: CarrierErrorCode): SendAnswer => ({
  outcome: "rejected",
  error: { code, message: "No." },
  permanent: true,
});

/** Not sent, and worth a retry. */
export const refusalForNow = (code: CarrierErrorCode, retry_after_ms?: number): SendAnswer => ({
  outcome: "rejected",
  error: { code, message: "Not now." },
  permanent: false,
  ...(retry_after_ms !== undefined && { retry_after_ms }),
});

export const refused = refusal("invalid_destination");

export const busy = (retry_after_ms?: number): SendAnswer =>
  refusalForNow("carrier_unavailable", retry_after_ms);

export const lost: SendAnswer = {
  outcome: "ambiguous",
  error: { code: "unknown", message: "The connection broke." },
};

/** A scripted carrier. It is named `sandbox` by default, so that every account can send over it. */
export function carrier(script: Script = {}): Carrier {
  const {
    name = "sandbox",
    send = (_, attempt) => accepted(attempt),
    lookup,
    ...capabilities
  } = script;
  const calls: CarrierCall[] = [];
  const lookups: Carrier["lookups"][number][] = [];
  let context: TransportContext | undefined;
  let starts = 0;
  let stops = 0;
  const now = (): number => context?.clock.now() ?? 0;
  const can: TransportCapabilities = {
    channels: ["sms", "mms"],
    modes: ["sandbox"],
    receipts: { timeout_ms: 3_600_000, lookups_ms: [] },
    confirms_opt_outs: false,
    ...capabilities,
  };
  const sink = (): TransportSink => {
    if (context === undefined) throw new Error("the carrier is not started");
    return context.sink;
  };
  const attemptOf = (call = 0): SendContext => {
    const { attempt } = calls[call] ?? {};
    if (attempt === undefined) throw new Error(`the carrier has no call with the index ${call}`);
    return attempt;
  };
  return {
    name,
    capabilities: can,
    calls,
    attempt: attemptOf,
    async report(status, { call, by = "attempt", error, at = now() } = {}) {
      const attempt = attemptOf(call);
      const subject: ReceiptSubject =
        by === "provider"
          ? { provider_message_id: providerId(attempt) }
          : {
              attempt_id: attempt.attempt_id,
              ...(by === "both" && { provider_message_id: providerId(attempt) }),
            };
      await sink().receipt(subject, { status, at, ...(error && { error }) });
    },
    lookups,
    get starts() {
      return starts;
    },
    get stops() {
      return stops;
    },
    sink,
    async start(given) {
      context = given;
      starts++;
    },
    async stop() {
      context = undefined;
      stops++;
    },
    async send(message, attempt) {
      if (!can.modes.includes(message.mode)) strays.push(message);
      calls.push({ message, attempt, at: now() });
      return send(message, attempt);
    },
    ...(lookup === undefined
      ? {}
      : {
          lookup: async (message: OutboundMessage, attempt: LookupContext) => {
            lookups.push({ attempt, at: now() });
            return lookup(message, attempt);
          },
        }),
  };
}

/** A transport that also records its calls. */
export function counted(transport: Transport): Transport & { readonly calls: CarrierCall[] } {
  const calls: CarrierCall[] = [];
  let clock: TransportContext["clock"] | undefined;
  return {
    ...transport,
    calls,
    async start(context) {
      ({ clock } = context);
      await transport.start?.(context);
    },
    async send(message, attempt) {
      if (!transport.capabilities.modes.includes(message.mode)) strays.push(message);
      calls.push({ message, attempt, at: clock?.now() ?? 0 });
      return transport.send(message, attempt);
    },
  };
}

/** A promise that the test resolves with `answer`. */
export function held<T>(): { readonly promise: Promise<T>; readonly answer: (value: T) => void } {
  let answer: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    answer = resolve;
  });
  return { promise, answer };
}
