/**
 * Where requests may go whose URLs users give: webhooks, media, agents' actions. Out to the public Internet, and inside only where the
 * host says so. A URL is checked when it is given (`checkUrl`) and, since a name can lead anywhere by then, each time the
 * address that the socket connects to (`checkAddress`).
 */
import { TidingsError } from "../kernel/index.ts";
import { isWithin, type Network, parseAddress, parseNetwork, rangeOf } from "./ranges.ts";

export interface Destinations {
  /** Plain http besides https. */
  readonly http: boolean;
  /** Names that may lead anywhere. */
  readonly hosts: ReadonlySet<string>;
  /** Addresses that may be called though they are not public. */
  readonly networks: readonly Network[];
}

export interface DestinationOptions {
  readonly http?: boolean;
  /**
   * What may be called besides the public Internet: host names (`hooks.internal`: that very name, wherever it leads), addresses and
   * networks (`10.1.0.0/16`, `fd00::/8`).
   */
  readonly allow?: readonly string[];
}

const hostName = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/** @throws TidingsError `invalid_option`: an entry is neither a host name nor an address nor a network */
export function destinations({ http = false, allow = [] }: DestinationOptions = {}): Destinations {
  const hosts = new Set<string>();
  const networks: Network[] = [];
  for (const entry of allow) {
    const network = parseNetwork(entry);
    const host = entry.toLowerCase();
    if (network !== undefined) networks.push(network);
    // What a URL makes something else of (`127.1` is an address) is no name.
    else if (hostName.test(host) && URL.parse(`http://${host}`)?.host === host) hosts.add(host);
    else {
      throw new TidingsError(
        "invalid_option",
        `allow: expected host names, addresses and networks, got "${entry}"`,
      );
    }
  }
  return { http, hosts, networks };
}

/** https to the public Internet. */
export const publicOnly: Destinations = destinations();

export const refusalCodes = [
  "url_invalid",
  "scheme_forbidden",
  "credentials_in_url",
  "host_forbidden",
  "address_forbidden",
] as const;

export interface Refusal {
  readonly code: (typeof refusalCodes)[number];
  /** A sentence that never says where a name leads: what the inside looks like is nobody's business. */
  readonly message: string;
}

export type UrlCheck =
  { readonly ok: true; readonly url: URL } | ({ readonly ok: false } & Refusal);

const longestUrl = 2_048;

/** Names that lead inside wherever they are asked: RFC 6761, 6762, 8375, and ICANN's `internal`. */
const insideNames = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Whether a URL may be called, as far as it says by itself. Written addresses are known in every form that a URL can have (decimal,
 * octal, hex, percent-encoded, full-width), since reading a URL makes one form of them: https://url.spec.whatwg.org/#host-parsing.
 * Any port is allowed. The URL that comes back has no dot at the host's end.
 */
export function checkUrl(text: string, to: Destinations): UrlCheck {
  const refuse = (code: Refusal["code"], message: string): UrlCheck => ({
    ok: false,
    code,
    message,
  });
  const url = text.length > longestUrl ? null : URL.parse(text);
  if (url === null) {
    return refuse("url_invalid", `Expected an absolute URL of at most ${longestUrl} characters.`);
  }
  if (url.protocol !== "https:" && !(to.http && url.protocol === "http:")) {
    return refuse("scheme_forbidden", to.http ? "Expected https or http." : "Expected https.");
  }
  if (url.username !== "" || url.password !== "") {
    return refuse(
      "credentials_in_url",
      "A URL must not have a user name or a password; use a header.",
    );
  }
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.replace(/\.+$/, "");
  if (url.port === "0") return refuse("url_invalid", "Expected a port from 1 to 65535.");
  const host = hostOf(url);
  if (parseAddress(host) !== undefined) {
    const refusal = checkAddress(host, host, to);
    return refusal === undefined ? { ok: true, url } : { ok: false, ...refusal };
  }
  if (to.hosts.has(host)) return { ok: true, url };
  if (insideNames.test(host) || !host.includes(".")) {
    return refuse("host_forbidden", "The host is not a public name.");
  }
  return { ok: true, url };
}

/** The name or address of a URL's host, an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  const { hostname } = url;
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** Whether an address may be connected to on behalf of that host. */
export function checkAddress(host: string, address: string, to: Destinations): Refusal | undefined {
  if (to.hosts.has(host)) return undefined;
  const parsed = parseAddress(address);
  if (parsed !== undefined && to.networks.some((network) => isWithin(parsed, network))) {
    return undefined;
  }
  const range = parsed === undefined ? "unreadable" : rangeOf(parsed);
  if (range === undefined) return undefined;
  return { code: "address_forbidden", message: `The host's address is not public (${range}).` };
}
