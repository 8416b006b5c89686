/**
 * The allowed destinations of requests to URLs that users supply, such as webhooks. A request may
 * go to the public Internet, and to internal hosts only if the host application allows them.
 * `checkUrl` checks a URL when it is supplied. Names can resolve differently later, so
 * `checkAddress` also checks each address that a socket connects to.
 */
import ipaddr from "ipaddr.js";
import {
  booleanOption,
  describe,
  listOption,
  option,
  optionsObject,
  parseOptions,
  TidingsError,
} from "../kernel/index.ts";

/**
 * The allowed destinations of requests, as `destinations()` returns them. An HTTP client passes
 * them to `checkUrl` and `checkAddress`.
 */
export interface Destinations {
  /** Whether http is allowed besides https. */
  readonly http: boolean;
  /** Host names that are allowed whatever address they resolve to. */
  readonly hosts: ReadonlySet<string>;
  /** Networks that are allowed although they are not public. */
  readonly networks: readonly IpNetwork[];
}

/** Options of `destinations()`. Without options, only https to the public Internet is allowed. */
export interface DestinationOptions {
  /**
   * Whether http is allowed besides https.
   * @default false
   */
  readonly http?: boolean | undefined;
  /**
   * Destinations allowed besides the public Internet: exact host names (`hooks.internal`), whatever
   * they resolve to, addresses, and networks (`10.1.0.0/16`, `fd00::/8`).
   * @default []
   */
  readonly allow?: readonly string[] | undefined;
}

const optionsSchema = optionsObject({
  http: booleanOption.default(false),
  allow: listOption(
    "host names, addresses and networks",
    option<string>("a string", (given) => typeof given === "string"),
  ).default(() => []),
});

const hostName = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * Returns the destinations to which a request of an HTTP client may go.
 * @throws TidingsError `invalid_option` when an option is wrong or unknown, or an entry of `allow`
 *   is not a host name, an address or a network
 */
export function destinations(options: DestinationOptions = {}): Destinations {
  const { http, allow } = parseOptions("destinations: ", optionsSchema, options);
  const hosts = new Set<string>();
  const networks: IpNetwork[] = [];
  for (const entry of allow) {
    const network = parseNetwork(entry);
    const host = entry.toLowerCase();
    if (network !== undefined) networks.push(network);
    // A name that URL parsing changes is not a host name: `127.1` becomes an address.
    else if (hostName.test(host) && URL.parse(`http://${host}`)?.host === host) hosts.add(host);
    else {
      throw new TidingsError(
        "invalid_option",
        "allow: expected a host name, an address or a network, without scheme and port, got " +
          `"${entry}"`,
      );
    }
  }
  return { http, hosts, networks };
}

/** The default: https to the public Internet. */
export const publicOnly: Destinations = destinations();

/** Why a request may not go to a URL or an address. */
export interface DestinationRefusal {
  /** The reason, for programs. */
  readonly code:
    | "url_invalid"
    | "scheme_forbidden"
    | "credentials_in_url"
    | "host_forbidden"
    | "address_forbidden";
  /**
   * The reason, for people. Never reveals the address of a name, which would describe the internal
   * network.
   */
  readonly message: string;
}

/** The result of `checkUrl`. */
export type UrlCheck = AllowedUrl | RefusedUrl;

/** A URL that a request may go to. The addresses of its host must still be checked. */
export interface AllowedUrl {
  /** Whether a request may go there. */
  readonly ok: true;
  /** The URL to call. It has no trailing dot in its host. */
  readonly url: URL;
}

/** A URL that no request may go to. */
export interface RefusedUrl extends DestinationRefusal {
  /** Whether a request may go there. */
  readonly ok: false;
}

const maxUrlLength = 2_048;

const howToAllow = "Use a public host, or add this host to the engine option `http.allow`.";

/** Names reserved for internal networks: RFC 6761, 6762, 8375, and ICANN's `internal`. */
const internalNames = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Checks a URL without resolving its host name. URL parsing normalizes IP addresses in any form
 * (decimal, octal, hex, percent-encoded, full-width): https://url.spec.whatwg.org/#host-parsing.
 * Every port but 0 is allowed. The returned URL has no trailing dot in its host.
 */
export function checkUrl(text: string, to: Destinations): UrlCheck {
  requireText("checkUrl: text", text);
  requireDestinations("checkUrl: to", to);
  const refuse = (code: DestinationRefusal["code"], message: string): UrlCheck => ({
    ok: false,
    code,
    message,
  });
  const url = text.length > maxUrlLength ? null : URL.parse(text);
  // Percent-encoding can make a URL longer. The result is stored, and checked before each request.
  if (url === null || url.href.length > maxUrlLength) {
    return refuse(
      "url_invalid",
      `Expected an absolute URL of at most ${maxUrlLength} characters, percent-encoded.`,
    );
  }
  if (url.protocol !== "https:" && !(to.http && url.protocol === "http:")) {
    const expected = to.http ? "https or http" : "https";
    return refuse("scheme_forbidden", `Expected ${expected}, got ${url.protocol.slice(0, -1)}.`);
  }
  if (url.username !== "" || url.password !== "") {
    return refuse(
      "credentials_in_url",
      "A URL must not contain a user name or a password. Use a header.",
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
  if (internalNames.test(host) || !host.includes(".")) {
    return refuse("host_forbidden", `The host is not a public name. ${howToAllow}`);
  }
  return { ok: true, url };
}

/** Returns the name or address of a URL's host, without the brackets of an IPv6 address. */
export function hostOf(url: URL): string {
  if (!(url instanceof URL)) throw wrongArgument("hostOf: url", "a URL object", url);
  const { hostname } = url;
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/**
 * Checks an address to which a host name resolved. `host` is the host of the URL, as `hostOf`
 * returns it. Returns undefined if the address may be connected to.
 */
export function checkAddress(
  host: string,
  address: string,
  to: Destinations,
): DestinationRefusal | undefined {
  requireText("checkAddress: host", host);
  requireText("checkAddress: address", address);
  requireDestinations("checkAddress: to", to);
  if (to.hosts.has(host)) return undefined;
  const parsed = parseAddress(address);
  if (parsed !== undefined && to.networks.some((network) => isWithin(parsed, network))) {
    return undefined;
  }
  const range = parsed === undefined ? "malformed" : rangeOf(parsed);
  if (range === undefined) return undefined;
  const message = `The host's address is not public (${range}). ${howToAllow}`;
  return { code: "address_forbidden", message };
}

function requireText(argument: string, given: unknown): void {
  if (typeof given !== "string") throw wrongArgument(argument, "a string", given);
}

function requireDestinations(argument: string, given: unknown): void {
  if (!hasFields(given, ["http", "hosts", "networks"])) {
    throw wrongArgument(argument, "the result of destinations()", given);
  }
}

function hasFields(given: unknown, names: readonly string[]): boolean {
  return typeof given === "object" && given !== null && names.every((name) => name in given);
}

function wrongArgument(argument: string, expected: string, given: unknown): TidingsError {
  const message = `${argument}: expected ${expected}, got ${describe(given)}`;
  return new TidingsError("invalid_option", message);
}

/** An IP address, as `ipaddr.js` parses it. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and the length of its network prefix in bits. */
export type IpNetwork = [IpAddress, number];

/**
 * Addresses outside the public Internet, from IANA's registries of special-purpose addresses. They
 * include the blocks of anycast services (AS112, AMT), where no receiver can run.
 */
const specialRanges: Readonly<Record<string, readonly string[]>> = {
  unspecified: ["0.0.0.0/8", "::/128"],
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"],
  "carrier-grade NAT": ["100.64.0.0/10"],
  // Includes the metadata service of cloud providers: 169.254.169.254.
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  // Azure's internal service has a public address.
  "cloud-internal": ["168.63.129.16/32"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  // Mapped, compatible and translated IPv4 addresses, which may be internal:
  // RFC 4291, 6145, 6052, 8215, 3056, 4380.
  "embedded IPv4": [
    "::/96",
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "2002::/16",
    "192.88.99.0/24",
    "2001::/32",
  ],
  documentation: [
    "192.0.2.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "2001:db8::/32",
    "3fff::/20",
  ],
  reserved: [
    "192.0.0.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "240.0.0.0/4",
    "2001::/23",
    "2620:4f:8000::/48",
  ],
};

const ranges = Object.fromEntries(
  Object.entries(specialRanges).map(([name, networks]) => [
    name,
    networks.map((each) => ipaddr.parseCIDR(each)),
  ]),
);

/** The IPv6 addresses assigned for use on the Internet. All others are special or unassigned. */
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/** Returns the name of the special range that holds an address, or undefined if it is public. */
function rangeOf(address: IpAddress): string | undefined {
  const known = ipaddr.subnetMatch(address, ranges, "");
  if (known !== "") return known;
  return address.kind() === "ipv4" || address.match(globalUnicast) ? undefined : "reserved";
}

/**
 * Parses dotted-decimal IPv4 and IPv6. Programs disagree on other forms of IPv4 (octal, hex, fewer
 * parts), so they are not accepted.
 */
function parseAddress(text: string): IpAddress | undefined {
  const valid = text.includes(":")
    ? ipaddr.IPv6.isValid(text)
    : ipaddr.IPv4.isValidFourPartDecimal(text);
  return valid ? ipaddr.parse(text) : undefined;
}

/** Parses `10.0.0.0/8`, `fd00::/8` or one address. */
function parseNetwork(text: string): IpNetwork | undefined {
  const [start = "", bits, more] = text.split("/");
  const address = parseAddress(start);
  if (address === undefined || more !== undefined) return undefined;
  const maxBits = address.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return [address, maxBits];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits ? [address, Number(bits)] : undefined;
}

function isWithin(address: IpAddress, [start, bits]: IpNetwork): boolean {
  return address.kind() === start.kind() && address.match(start, bits);
}
