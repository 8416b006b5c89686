/** Access to pages without `authorize`: from this machine, with a token that the server prints. */
import { createHash, timingSafeEqual } from "node:crypto";
import ipaddr from "ipaddr.js";
import { defaultAccountId } from "../../../../src/accounts/index.ts";
import { headerOf, type ApiRequest, type RequestHandler } from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";
import { keyScopes, rateLimiter, type RateLimiter } from "../../../../src/operations/index.ts";
import { cookiesOf, portOf } from "./cookies.ts";
import type { CheckedAccess } from "./options.ts";

/** The person who works on this machine. */
const localOperator: CheckedAccess = {
  account_id: defaultAccountId,
  mode: "sandbox",
  operator: { id: "local", name: "Local operator" },
  may: [...keyScopes],
};

/** The number of random bytes in a token, too many to guess. */
const tokenBytes = 24;
/** Sign-ins per second, over all clients. */
const attemptsPerSecond = 5;

/**
 * The sign-in of one engine's pages. They share the token and the cookie, so that one sign-in opens
 * all of them.
 */
export class LocalAccess {
  static readonly #ofEngines = new WeakMap<RequestHandler, LocalAccess>();

  static of(api: RequestHandler): LocalAccess {
    let access = LocalAccess.#ofEngines.get(api);
    if (access === undefined) LocalAccess.#ofEngines.set(api, (access = new LocalAccess(api)));
    return access;
  }

  /** What a person enters to sign in. It is valid until the process ends. */
  readonly token: string;
  /** The value of the cookie. It differs from the token, so that neither gives away the other. */
  readonly #session: string;
  readonly #attempts: RateLimiter;

  private constructor({ ports: { clock, random } }: RequestHandler) {
    const draw = (): string => Buffer.from(random.bytes(tokenBytes)).toString("base64url");
    this.token = draw();
    this.#session = draw();
    this.#attempts = rateLimiter(clock, {});
  }

  /** Returns the access of a request that has the cookie. Returns null for any other. */
  accessOf({ headers }: ApiRequest): CheckedAccess | null {
    // A server on another port can set a cookie of this name with a longer path, which comes first.
    const given = cookiesOf(headers, cookieName(headers));
    return given.some((each) => isSame(each, this.#session)) ? localOperator : null;
  }

  /**
   * Returns the `Set-Cookie` header for the token.
   * @throws TidingsError `invalid_session_token`, `rate_limited`
   */
  async signIn({ headers }: ApiRequest, token: unknown): Promise<string> {
    const { admitted, retry_after_ms } = await this.#attempts.admit("sign-in", attemptsPerSecond);
    if (!admitted) {
      throw new TidingsError("rate_limited", "Too many attempts to sign in. Wait a second.", {
        retryAfterMs: retry_after_ms,
      });
    }
    if (typeof token !== "string" || !isSame(token, this.token)) {
      throw new TidingsError(
        "invalid_session_token",
        "This is not the token that the server printed when it last started.",
      );
    }
    return `${cookieName(headers)}=${this.#session}; Path=/; HttpOnly; SameSite=Strict`;
  }
}

/** Compares in constant time. The digests also hide the length. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Servers on different ports of a host share cookies, so the name contains the port. */
const cookieName = (headers: readonly string[]): string =>
  `tidings_session_${portOf(headers) ?? "80"}`;

/**
 * Headers that proxies and tunnels add. Behind a proxy on this machine, every client seems to be
 * local.
 */
const forwarding =
  /^(?:forwarded|via|x-(?:forwarded|original|envoy)-.*|(?:.*-)?(?:client|connecting|real)-ip)$/i;

/**
 * Refuses a request that may come from elsewhere. A `Host` that may name another machine is refused
 * too: a website can point its own domain at this machine (DNS rebinding).
 * @throws TidingsError `local_only`
 */
export function refuseRemote({ remoteAddress, headers }: ApiRequest, subject: string): void {
  const reason = remoteReason(remoteAddress, headers);
  if (reason === undefined) return;
  throw new TidingsError(
    "local_only",
    `This page works only on the machine that it runs on, and ${reason}. To use it from ` +
      `elsewhere, set authorize, which decides who may use it: ${subject}(engine, { authorize }).`,
  );
}

function remoteReason(
  remoteAddress: string | undefined,
  headers: readonly string[],
): string | undefined {
  if (remoteAddress === undefined) return "the server does not know where the request came from";
  if (!isLoopback(remoteAddress)) return "the request came from another machine";
  if (headers.some((name, i) => i % 2 === 0 && forwarding.test(name))) {
    return "the request came through a proxy";
  }
  if (!isLocalHost(headerOf(headers, "host") ?? "")) {
    return "the host in its address is not a local one: open http://localhost";
  }
  // Some proxies add no header and replace the host by the address that they send to.
  const origin = URL.parse(headerOf(headers, "origin") ?? "");
  if (origin !== null && !isLocalHost(origin.host)) return "the request came through a proxy";
  return undefined;
}

/** Whether the host of a URL, with or without a port, always names this machine. */
function isLocalHost(given: string): boolean {
  const host = given.replace(/:\d{1,5}$/, "").toLowerCase();
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return isLoopback(host.replace(/^\[(.*)\]$/, "$1"));
}

function isLoopback(address: string): boolean {
  // Only the four-part form: `127.1` and `0x7f.1` are names to some and addresses to others.
  const isWritten = ipaddr.IPv4.isValidFourPartDecimal(address) || address.includes(":");
  return isWritten && ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}
