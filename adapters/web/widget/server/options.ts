/** The options of the chat widget. */
import type { Mountable } from "../../../../src/api/index.ts";
import type { OpenWebchatSession, WebchatSession } from "../../../../src/index.ts";
import {
  choiceOption,
  functionOption,
  isId,
  listOption,
  option,
  optionsObject,
  originOption,
  parseOptions,
  wholeOption,
  type Mode,
} from "../../../../src/kernel/index.ts";

/** The part of an engine that the chat widget uses. */
export interface WidgetEngine extends Mountable {
  /** Returns the account whose visitors chat. */
  account(
    id?: string,
    options?: {
      /** The mode of the account's data. */
      readonly mode?: Mode | undefined;
    },
  ): {
    /** The chats of the account. */
    readonly webchat: {
      /** Opens a session for a new or a returning visitor. */
      open(input?: Pick<OpenWebchatSession, "return_key">): Promise<WebchatSession>;
    };
  };
}

/** A request for a session, as `clientAddress` sees it. */
export interface WidgetRequest {
  /** The headers by lower-case name, such as `x-forwarded-for`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The IP address at the other end of the connection. Undefined if it is unknown. */
  readonly remoteAddress: string | undefined;
  /**
   * The request of your framework: Express's request, Koa's context, Node's message or the
   * `Request` of `fetch`.
   */
  readonly original: unknown;
}

/** Options of the chat widget. */
export interface WidgetOptions {
  /** The account whose visitors chat. By default the default account. */
  readonly account_id?: string | undefined;
  /** The mode of the visitors' data. By default the engine's mode. */
  readonly mode?: Mode | undefined;
  /**
   * Origins of other websites whose pages may include the widget, such as `https://shop.example`.
   * At most 100. Pages of the widget's own origin may always include it.
   * @default []
   */
  readonly origins?: readonly string[] | undefined;
  /**
   * The sessions that one IP address may open in any one hour in each process, 1 to 100,000. A
   * browser opens one a day, and an office may have one address. An IPv6 address counts with all of
   * its network (/64).
   * @default 60
   */
  readonly sessionsPerAddress?: number | undefined;
  /**
   * The sessions that all addresses together may open in any one hour in each process, 1 to
   * 1,000,000.
   * @default 5000
   */
  readonly sessionsInAll?: number | undefined;
  /**
   * Returns the visitor's IP address. Set it behind a proxy, which otherwise counts as one visitor:
   * `({ headers }) => headers["x-real-ip"]`. Visitors without an address count only for
   * `sessionsInAll`. By default the address at the other end of the connection.
   */
  readonly clientAddress?: ((request: WidgetRequest) => string | undefined) | undefined;
}

type ClientAddress = NonNullable<WidgetOptions["clientAddress"]>;

const connectedAddress: ClientAddress = ({ remoteAddress }) => remoteAddress;

const optionsSchema = optionsObject({
  account_id: option<string>(
    "the id of an account",
    (given) => typeof given === "string" && isId("acct", given),
  ).optional(),
  mode: choiceOption<Mode>("sandbox", "live").optional(),
  origins: listOption("origins", originOption, 100).default(() => []),
  sessionsPerAddress: wholeOption(1, 100_000).default(60),
  sessionsInAll: wholeOption(1, 1_000_000).default(5_000),
  clientAddress: functionOption<ClientAddress>(
    "a function that returns the visitor's IP address",
  ).default(() => connectedAddress),
});

/** Checked options. */
export interface WidgetSettings {
  readonly account_id?: string | undefined;
  readonly mode?: Mode | undefined;
  readonly origins: readonly string[];
  readonly sessionsPerAddress: number;
  readonly sessionsInAll: number;
  readonly clientAddress: ClientAddress;
}

/** @throws TidingsError `invalid_option` */
export function parseWidgetOptions(subject: string, options: WidgetOptions): WidgetSettings {
  return parseOptions(`${subject}: `, optionsSchema, options);
}
