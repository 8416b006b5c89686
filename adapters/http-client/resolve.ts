import type { LookupAddress } from "node:dns";
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { checkAddress, type Destinations } from "../../src/ports/destinations.ts";
import { Failure } from "./failures.ts";

/** Addresses of a name, IPv4 first: a machine without a way to IPv6 would lose time over it. */
export type Resolve = (name: string, to: Destinations, signal: AbortSignal) => Promise<string[]>;

/** More of them are checked, and not tried. */
const mostAddresses = 8;

/**
 * Asks DNS servers without a thread: the system's look-up takes one of libuv's four for as long as a slow name takes, and files and
 * hashes wait with it. Names that the host allows are its own affair, hosts file and search domains included, so the system looks
 * those up.
 */
export function nameResolver(servers: readonly string[] | undefined): Resolve {
  return async (name, to, signal) => {
    if (to.hosts.has(name)) {
      const found = await lookup(name, { all: true, order: "ipv4first" });
      return found.map(({ address }) => address);
    }
    // One for each look-up: it can be cancelled alone, and sees changes of the system's settings.
    const resolver = new Resolver();
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    signal.removeEventListener("abort", cancel);
    const addresses = answers.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    if (addresses.length > 0) return addresses;
    // That there is none of a kind says less than that a server could not say.
    const refused = answers.filter((each) => each.status === "rejected");
    const telling = refused.find(({ reason }) => !isNotFound(reason)) ?? refused[0];
    const reason: unknown = telling?.reason;
    throw reason;
  };
}

/**
 * What a name leads to, for a socket to connect to just that: there is no moment between check and use. A name that leads to public and
 * other addresses is refused whole: which of them is meant would be up to the name's owner.
 */
export async function publicAddresses(
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
  return addresses.slice(0, mostAddresses).map((address) => ({ address, family: isIP(address) }));
}

export function dnsFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return isNotFound(error)
    ? new Failure("dns_not_found", "The host's name does not exist, or has no address.")
    : new Failure("dns_failed", "The host's name could not be looked up.");
}

function isNotFound(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOTFOUND" || code === "ENODATA";
}
