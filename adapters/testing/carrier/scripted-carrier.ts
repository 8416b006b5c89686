import {
  booleanOption,
  channels,
  choiceOption,
  functionOption,
  listOption,
  option,
  optionsObject,
  parseOptions,
  type Mode,
} from "../../../src/kernel/index.ts";
import type {
  InboundMessage,
  Media,
  ReceiptTimes,
  Transport,
  TransportCapabilities,
} from "../../../src/ports/index.ts";
import {
  outcomeOption,
  patternCondition,
  scriptOption,
  textCondition,
} from "../scripts/options.ts";
import { Connectors } from "../world/ports/connectors.ts";
import type { RunContext } from "../world/run-context.ts";
import { CarrierCore } from "./core.ts";
import type { CarrierConnection } from "./deliveries.ts";
import type { CarrierCall, CarrierScript } from "./script.ts";

/** Options of `scriptedCarrier()`. */
export interface ScriptedCarrierOptions {
  /**
   * The name of the transport. Every account in sandbox mode sends over `sandbox` without further
   * setup.
   * @default "sandbox"
   */
  readonly name?: string | undefined;
  /**
   * The modes whose messages it carries.
   * @default ["sandbox", "live"]
   */
  readonly modes?: TransportCapabilities["modes"] | undefined;
  /**
   * The channels that it carries.
   * @default ["sms", "mms"]
   */
  readonly channels?: TransportCapabilities["channels"] | undefined;
  /**
   * When receipts come. Default: within 240 s, with look-ups after 30 s and 100 s. `none`: never.
   */
  readonly receipts?: "none" | ReceiptTimes | undefined;
  /**
   * Whether the carrier answers look-ups.
   * @default true
   */
  readonly lookups?: boolean | undefined;
  /**
   * Whether the carrier itself confirms opt-outs.
   * @default false
   */
  readonly confirmsOptOuts?: boolean | undefined;
  /**
   * Decides what happens to each message. By default, and where the script says nothing, the
   * carrier accepts a message and delivers it.
   */
  readonly script?: CarrierScript | undefined;
  /**
   * Called with each call when it arrives, before it is recorded. For laws that are checked at
   * once.
   */
  readonly onCall?: ((call: CarrierCall) => void) | undefined;
}

/** A text from a phone, as a test writes it. */
export interface ScriptedText {
  /** The phone's number. */
  readonly from: string;
  /** The address of the sender that it is sent to. */
  readonly to: string;
  /**
   * The text.
   * @default ""
   */
  readonly body?: string | undefined;
  /**
   * The files. With some, the message is an MMS.
   * @default []
   */
  readonly media?: readonly Media[] | undefined;
  /**
   * The account that it is for, in sandbox mode, where several use the same sender's address.
   * Default: the account that texted this phone last from that address. If none did, the text is
   * for the live account with that address. A carrier with `modes: ["sandbox"]` has no live
   * accounts: there it is for the only sandbox with that address. Any other text is dropped.
   */
  readonly account_id?: string | undefined;
  /**
   * When it arrives at an engine, in milliseconds from now.
   * @default 0
   */
  readonly arrivesAfterMs?: number | undefined;
}

/**
 * A carrier that does what a test says, and records what it was asked. It is the transport of one
 * engine, or the carrier of all engines of a world.
 */
export interface ScriptedCarrier extends Transport {
  /** All calls that reached the carrier, in order. */
  readonly calls: readonly CarrierCall[];
  /** The calls whose message the carrier accepted: what the phones get. */
  readonly handedOver: readonly CarrierCall[];
  /** The ids of attempts that a look-up reported as not sent. */
  readonly denied: ReadonlySet<string>;
  /** The texts from phones, in order. */
  readonly texts: readonly InboundMessage[];
  /** The number of receipts and texts that no engine has accepted yet. */
  readonly undelivered: number;
  /** The calls with one message, in order. */
  callsOf(message_id: string): readonly CarrierCall[];
  /**
   * Takes a text from a phone and delivers it to an engine. Tries again until an engine accepts it.
   */
  text(text: ScriptedText): void;
  /** The same carrier as a second transport with another name, for routes and fallback. */
  as(name: string): ScriptedCarrier;
}

export const scriptedCarriers = new Connectors<ScriptedCarrier, Transport>();

const defaultReceiptTimes: ReceiptTimes = { timeout_ms: 240_000, lookups_ms: [30_000, 100_000] };

const nameOption = option<string>(
  "a name that is not empty",
  (given) => typeof given === "string" && given !== "",
  { isQuoted: true },
);

const optionsSchema = optionsObject({
  name: nameOption.default("sandbox"),
  modes: listOption("modes", choiceOption<Mode>("sandbox", "live")).default(["sandbox", "live"]),
  channels: listOption("channels", choiceOption(...channels)).default(["sms", "mms"]),
  receipts: option<"none" | ReceiptTimes>(
    '"none" or an object with timeout_ms and lookups_ms',
    (given) => given === "none" || (typeof given === "object" && given !== null),
  ).default(defaultReceiptTimes),
  lookups: booleanOption.default(true),
  confirmsOptOuts: booleanOption.default(false),
  script: scriptOption<CarrierScript>(
    { to: textCondition.optional(), text: patternCondition.optional() },
    { attempts: outcomeOption(["accepted", "answer_lost", "refused", "throttled"]) },
  ).default([]),
  onCall: functionOption<(call: CarrierCall) => void>().optional(),
});

/**
 * Returns a carrier that does what a test says: by number, by text or by a function.
 * @throws TidingsError `invalid_option` when an option is wrong or unknown
 */
export function scriptedCarrier(options: ScriptedCarrierOptions = {}): ScriptedCarrier {
  const { name, modes, channels, receipts, lookups, confirmsOptOuts, script, onCall } =
    parseOptions("scriptedCarrier: ", optionsSchema, options);
  const core = new CarrierCore({ script, hasReceipts: receipts !== "none", onCall });
  const times = receipts === "none" || lookups ? receipts : { ...receipts, lookups_ms: [] };
  const capabilities = { modes, channels, receipts: times, confirms_opt_outs: confirmsOptOuts };
  return carrierNamed(name, core, { capabilities, lookups });
}

interface TransportSettings {
  readonly capabilities: TransportCapabilities;
  readonly lookups: boolean;
}

function carrierNamed(
  name: string,
  core: CarrierCore,
  settings: TransportSettings,
): ScriptedCarrier {
  const carrier: ScriptedCarrier = {
    ...transportOf(core, name, settings, undefined),
    get calls() {
      return core.calls;
    },
    get handedOver() {
      return core.calls.filter(({ provider_message_id }) => provider_message_id !== null);
    },
    denied: core.denied,
    get texts() {
      return core.texts;
    },
    get undelivered() {
      return core.deliveries.undelivered;
    },
    callsOf: (id) => core.calls.filter(({ message }) => message.message_id === id),
    text({ from, to, body = "", media = [], arrivesAfterMs = 0, account_id }) {
      const channel = media.length === 0 ? "sms" : "mms";
      core.receive(
        { channel, from, to, body, media },
        { transport: name, arrivesAfterMs, account_id },
      );
    },
    as: (other) => carrierNamed(other, core, settings),
  };
  scriptedCarriers.add(carrier, (context) => {
    core.join(context);
    return transportOf(core, name, settings, context);
  });
  return carrier;
}

/** The transport of one engine. `context` is undefined outside of a world. */
function transportOf(
  core: CarrierCore,
  name: string,
  { capabilities, lookups }: TransportSettings,
  context: RunContext | undefined,
): Transport {
  const connection: CarrierConnection = { transport: name, context, sink: undefined };
  void context?.run.ended.then(() => core.deliveries.connections.delete(connection));
  return {
    name,
    capabilities,
    send: async (message, attempt) => core.send(connection, message, attempt),
    ...(lookups
      ? { lookup: async (message, attempt) => core.lookup(connection, message, attempt) }
      : {}),
    start: async ({ sink, clock }) => {
      core.deliveries.use(clock);
      connection.sink = sink;
      core.deliveries.connect(connection);
    },
    stop: async () => {
      connection.sink = undefined;
      core.deliveries.connections.delete(connection);
    },
  };
}
