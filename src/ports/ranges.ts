import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address, and how many of its leading bits count. */
export type Network = [Address, number];

/**
 * What is not the public Internet, after IANA's registries of special-purpose addresses. Anycast services that no receiver can stand
 * on (AS112, AMT) are left out with the blocks that hold them.
 */
const special: Readonly<Record<string, readonly string[]>> = {
  unspecified: ["0.0.0.0/8", "::/128"],
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"],
  "carrier-grade NAT": ["100.64.0.0/10"],
  // Also where clouds answer their machines: 169.254.169.254.
  "link-local": ["169.254.0.0/16", "fe80::/10"],
  // Azure answers its machines on a public address.
  "a cloud's own": ["168.63.129.16/32"],
  multicast: ["224.0.0.0/4", "ff00::/8"],
  // Mapped, compatible and translated forms of IPv4, each of which may lead to the inside: RFC 4291, 6145, 6052, 8215, 3056, 4380.
  "IPv4 in disguise": [
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
  Object.entries(special).map(([name, networks]) => [
    name,
    networks.map((each) => ipaddr.parseCIDR(each)),
  ]),
);

/** All of IPv6 that is handed out for use on the Internet; the rest is special or not assigned. */
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/** The name of the range that keeps an address from being public; `undefined`: it is public. */
export function rangeOf(address: Address): string | undefined {
  const known = ipaddr.subnetMatch(address, ranges, "");
  if (known !== "") return known;
  return address.kind() === "ipv4" || address.match(globalUnicast) ? undefined : "reserved";
}

/** Dotted decimals and IPv6 alone: the other forms of IPv4 (octal, hex, fewer parts) say different things to different readers. */
export function parseAddress(text: string): Address | undefined {
  const valid = text.includes(":")
    ? ipaddr.IPv6.isValid(text)
    : ipaddr.IPv4.isValidFourPartDecimal(text);
  return valid ? ipaddr.parse(text) : undefined;
}

/** `10.0.0.0/8`, `fd00::/8`, or one address. */
export function parseNetwork(text: string): Network | undefined {
  const [start = "", bits, more] = text.split("/");
  const address = parseAddress(start);
  if (address === undefined || more !== undefined) return undefined;
  const most = address.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return [address, most];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? [address, Number(bits)] : undefined;
}

export function isWithin(address: Address, [start, bits]: Network): boolean {
  return address.kind() === start.kind() && address.match(start, bits);
}
