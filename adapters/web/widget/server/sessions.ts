/** Sessions for visitors whom the host application does not know. A cookie brings them back. */
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import type { ApiRequest } from "../../../../src/api/index.ts";
import type { WebchatSession } from "../../../../src/index.ts";
import { headersByName, TidingsError } from "../../../../src/kernel/index.ts";
import { admit, slidingLog } from "../../../../src/operations/index.ts";
import type { Clock } from "../../../../src/ports/index.ts";
import { cookiesOf, portOf } from "../../shared/server/cookies.ts";
import type { WidgetEngine, WidgetSettings } from "./options.ts";
import { pageOrigin, type PageOrigin } from "./origins.ts";

const hourMs = 3_600_000;
/** The most networks whose sessions are counted. Beyond it, the least recent one is forgotten. */
const maxNetworks = 10_000;
/** Browsers keep no cookie longer than 400 days. Each new session restarts this time. */
const cookieSeconds = 400 * 24 * 3_600;

/** The session as the script gets it. Only the cookie has the key with which a visitor returns. */
export interface ScriptSession extends Omit<WebchatSession, "return_key"> {
  /** The address of the API without `/v1`, relative to the address of the session. */
  readonly api: string;
}

export class VisitorSessions {
  readonly #engine: WidgetEngine;
  readonly #clock: Clock;
  readonly #settings: WidgetSettings;
  readonly #all = slidingLog(hourMs);
  readonly #byNetwork = new LRUCache<string, ReturnType<typeof slidingLog>>({ max: maxNetworks });

  constructor(engine: WidgetEngine, clock: Clock, settings: WidgetSettings) {
    this.#engine = engine;
    this.#clock = clock;
    this.#settings = settings;
  }

  /**
   * Opens a session for the visitor in the cookie, or for a new one.
   * @throws TidingsError `foreign_origin`, `rate_limited`
   */
  async open(
    request: ApiRequest,
  ): Promise<{ readonly session: ScriptSession; readonly cookie: string }> {
    const { account_id, mode, origins } = this.#settings;
    const page = pageOrigin(request, origins);
    this.#admit(request);
    const { webchat } = this.#engine.account(account_id, mode === undefined ? {} : { mode });
    const name = cookieName(request);
    // A mount within the path of another one gets both cookies. Its own has the longer path, so it
    // comes first.
    const [known] = cookiesOf(request.headers, name);
    const opened =
      known === undefined
        ? await webchat.open()
        : // A cookie that the engine did not sign, such as one of another engine, is replaced.
          await webchat.open({ return_key: known }).catch(async (error: unknown) => {
            if (!isKeyError(error)) throw error;
            return webchat.open();
          });
    const { return_key, ...session } = opened;
    return { session: { ...session, api: "./" }, cookie: cookieWith(name, return_key ?? "", page) };
  }

  /**
   * Counts a session for the visitor's address and for all.
   * @throws TidingsError `rate_limited`
   */
  #admit({ headers, remoteAddress, original }: ApiRequest): void {
    const { clientAddress, sessionsPerAddress, sessionsInAll } = this.#settings;
    const now = this.#clock.monotonic();
    const address = clientAddress({ headers: headersByName(headers), remoteAddress, original });
    const network = networkOf(address);
    if (network !== undefined) {
      const log = this.#byNetwork.get(network) ?? slidingLog(hourMs);
      this.#byNetwork.set(network, log);
      const { admitted, retry_after_ms } = admit(log, sessionsPerAddress, now);
      if (!admitted) throw tooMany("Your network", sessionsPerAddress, retry_after_ms);
    }
    const { admitted, retry_after_ms } = admit(this.#all, sessionsInAll, now);
    if (!admitted) throw tooMany("All visitors together", sessionsInAll, retry_after_ms);
  }
}

const tooMany = (who: string, limit: number, retryAfterMs: number): TidingsError =>
  new TidingsError("rate_limited", `${who} opened more than ${limit} chats in one hour.`, {
    retryAfterMs,
  });

const isKeyError = (error: unknown): boolean =>
  error instanceof TidingsError &&
  (error.errors ?? []).some(({ pointer }) => pointer === "/return_key");

/**
 * Returns what an address counts for: an IPv4 address for itself, an IPv6 address for its network
 * (/64), since one computer can use all addresses of that. Undefined if it is no IP address.
 */
function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || !ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString();
}

/** Servers on different ports of a host share cookies, so the name contains the port. */
function cookieName({ headers }: ApiRequest): string {
  const port = portOf(headers);
  return port === undefined ? "tidings_visitor" : `tidings_visitor_${port}`;
}

function cookieWith(name: string, value: string, { isOwn, isSecure }: PageOrigin): string {
  // Other websites see a cookie of their own, which does not follow the visitor elsewhere.
  const site = isOwn ? "SameSite=Lax" : "SameSite=None; Partitioned";
  const secure = isSecure || !isOwn ? "; Secure" : "";
  // Without a path, it belongs to the path of the mount. The chat of another account has another.
  return `${name}=${value}; Max-Age=${cookieSeconds}; HttpOnly; ${site}${secure}`;
}
