import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { memberOf } from "../../src/kernel/index.ts";
import { checkAddress, type Destinations } from "../../src/ports/index.ts";
import { Failure } from "./failures.ts";

/**
 * Resolves a name to its addresses, IPv4 first, because connecting to an IPv6 address costs time on
 * a machine without IPv6.
 */
export type Resolve = (name: string, to: Destinations, signal: AbortSignal) => Promise<string[]>;

/** How many of a name's addresses are tried. All of them are checked. */
const maxAddresses = 8;

/**
 * How long to wait for the IPv6 addresses once the IPv4 addresses are known. Some DNS servers and
 * firewalls never answer queries for IPv6 addresses. RFC 8305 waits 50 ms, because it still tries
 * addresses that come later. Here they are ignored, so after so short a wait, a machine without
 * IPv4 could not connect. The wait must end well before the shortest deadline of a request, 1 s.
 */
const resolutionDelayMs = 500;

/**
 * Returns a function that queries DNS servers directly. The system's look-up (`dns.lookup`) would
 * hold one of libuv's four threads for as long as a slow name takes, and file and crypto work would
 * wait for it. Names that the host application allows by name do go through the system, because
 * they may be in the hosts file or need its search domains.
 */
export function nameResolver(servers: readonly string[] | undefined): Resolve {
  return async (name, to, signal) => {
    if (to.hosts.has(name)) {
      const found = await lookup(name, { all: true, order: "ipv4first" });
      return found.map(({ address }) => address);
    }
    // A new resolver for each look-up can be canceled alone, and sees changes of the system's
    // settings.
    const resolver = new Resolver();
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    const ipv4 = resolver.resolve4(name);
    const ipv6 = resolver.resolve6(name);
    let timer: NodeJS.Timeout | undefined;
    // The wait for IPv4 addresses has no such limit, because the machine may have no IPv6.
    ipv4.then(
      () => {
        timer = setTimeout(cancel, resolutionDelayMs);
      },
      () => {},
    );
    const results = await Promise.allSettled([ipv4, ipv6]);
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    const addresses = results.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    if (addresses.length > 0) return addresses;
    // A server failure matters more than "no address of this family".
    const failures = results.filter((each) => each.status === "rejected");
    const cause = failures.find(({ reason }) => !isNotFound(reason)) ?? failures[0];
    const reason: unknown = cause?.reason;
    throw reason;
  };
}

/**
 * Resolves a name to addresses that are all allowed. The socket connects to one of exactly these,
 * so the name cannot change between the check and its use. A name with both allowed and forbidden
 * addresses is refused, because its owner decides which one is used.
 */
export async function allowedAddresses(
  resolve: Resolve,
  name: string,
  to: Destinations,
  signal: AbortSignal,
): Promise<LookupAddress[]> {
  const addresses = await resolve(name, to, signal);
  for (const address of addresses) {
    const refusal = checkAddress(name, address, to);
    if (refusal !== undefined) throw new Failure(refusal.code, refusal.message);
  }
  return addresses.slice(0, maxAddresses).map((address) => ({ address, family: isIP(address) }));
}

/** Converts an error of a look-up to a failure. */
export function dnsFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return isNotFound(error)
    ? new Failure("dns_not_found", "The host name does not exist or has no address.")
    : new Failure("dns_failed", "The DNS servers could not resolve the host name.");
}

function isNotFound(error: unknown): boolean {
  // Not `instanceof Error`: Jest has its own `Error`, and Node's errors are not instances of it.
  const code = memberOf(error, "code");
  return code === "ENOTFOUND" || code === "ENODATA";
}
