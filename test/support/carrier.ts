/** A carrier that does what a test says, and remembers what it was asked. */
import type {
  AttemptMade,
  LookupAnswer,
  OutboundMessage,
  SendAnswer,
  SendContext,
  Transport,
  TransportCapabilities,
  TransportContext,
  TransportSink,
} from "../../src/ports/transport.ts";

export interface CarrierCall {
  readonly message: OutboundMessage;
  readonly attempt: SendContext;
  /** When it came, by the engine's clock. */
  readonly at: number;
}

export interface Script extends Partial<TransportCapabilities> {
  readonly name?: string;
  /** What a call is answered; by default it is accepted under an id that names the attempt. */
  readonly send?: (
    message: OutboundMessage,
    attempt: SendContext,
  ) => SendAnswer | Promise<SendAnswer>;
  /** Without it, the carrier can't be asked. */
  readonly lookup?: (
    message: OutboundMessage,
    attempt: AttemptMade,
  ) => LookupAnswer | Promise<LookupAnswer>;
}

export interface Carrier extends Transport {
  readonly calls: CarrierCall[];
  readonly lookups: { readonly attempt: AttemptMade; readonly at: number }[];
  /** How often it was started, and stopped. */
  readonly starts: number;
  readonly stops: number;
  /** Where it brings receipts and messages, while it is started. */
  sink(): TransportSink;
}

/** Messages that came to a carrier of the other mode: after each test there must be none. */
export const strays: OutboundMessage[] = [];

export const providerId = ({ attempt_id }: Pick<SendContext, "attempt_id">): string =>
  `p-${attempt_id}`;

export const accepted = (attempt: Pick<SendContext, "attempt_id">): SendAnswer => ({
  outcome: "accepted",
  provider_message_id: providerId(attempt),
});

/** Surely not sent, and worth another try. */
export const busy = (retry_after_ms?: number): SendAnswer => ({
  outcome: "rejected",
  error: { code: "carrier_unavailable", message: "Try again." },
  permanent: false,
  ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
});

export const refused: SendAnswer = {
  outcome: "rejected",
  error: { code: "invalid_destination", message: "No such number." },
  permanent: true,
};

export const lost: SendAnswer = {
  outcome: "ambiguous",
  error: { code: "unknown", message: "The line broke." },
};

/** By default it goes by the sandbox's name, so that every account can send over it at once. */
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
  return {
    name,
    capabilities: can,
    calls,
    lookups,
    get starts() {
      return starts;
    },
    get stops() {
      return stops;
    },
    sink() {
      if (context === undefined) throw new Error("the carrier is not started");
      return context.sink;
    },
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
          lookup: async (message: OutboundMessage, attempt: AttemptMade) => {
            lookups.push({ attempt, at: now() });
            return lookup(message, attempt);
          },
        }),
  };
}

/** A transport as it is, whose calls are counted. */
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

/** An answer that a test gives when it likes. */
export function held<T>(): { readonly promise: Promise<T>; readonly answer: (value: T) => void } {
  let answer: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    answer = resolve;
  });
  return { promise, answer };
}
