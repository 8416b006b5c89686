import { Resolver } from "node:dns";
import http from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";
import { LRUCache } from "lru-cache";
import { listOption, option, optionsObject, parseOptions } from "../../src/kernel/index.ts";
import {
  checkUrl,
  hostOf,
  type DestinationRefusal,
  type Destinations,
  type HttpClient,
} from "../../src/ports/index.ts";
import { nameResolver } from "./dns.ts";
import { exchange, type Target } from "./exchange.ts";
import { failed, Failure } from "./failures.ts";

/** Options of `httpClient()`. */
export interface HttpClientOptions {
  /**
   * The DNS servers that resolve public names, as IP addresses with an optional port: `"9.9.9.9"`,
   * `"[2620:fe::fe]:53"`. The default is the system's DNS servers. Names that the request's
   * destinations allow by name are always resolved by the system.
   */
  readonly dnsServers?: readonly string[] | undefined;
}

const optionsSchema = optionsObject({
  dnsServers: listOption(
    "DNS servers",
    option<string>('an IP address with an optional port, such as "9.9.9.9"', isDnsServer, {
      isQuoted: true,
    }),
  ).optional(),
});

function isDnsServer(server: unknown): boolean {
  if (typeof server !== "string") return false;
  try {
    new Resolver().setServers([server]);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the client through which the engine sends webhooks and carrier requests. It is built on
 * `node:http` and `node:https`:
 *
 * - It speaks HTTP/1.1 and reuses connections.
 * - It never uses a proxy, whatever the environment variables say.
 * - It always verifies certificates, and requires TLS 1.2 or later. `NODE_EXTRA_CA_CERTS` adds
 *   certificate authorities.
 * - It connects only to addresses that the request's destinations allow.
 * @throws TidingsError `invalid_option` when an option is wrong or unknown
 */
export function httpClient(options: HttpClientOptions = {}): HttpClient {
  const { dnsServers } = parseOptions("httpClient: ", optionsSchema, options);
  const kept = agents({ keepAlive: true });
  const single = agents({ keepAlive: false });
  const resolve = nameResolver(dnsServers);
  const checkTarget = targetChecker();
  return {
    async send(request) {
      const checked = checkTarget(request.url, request.to);
      if (!checked.ok) return failed(new Failure(checked.code, checked.message));
      const { target } = checked;
      const { http, https } = request.own_connection === true ? single : kept;
      return exchange(request, target, target.protocol === "https:" ? https : http, resolve);
    },
    close() {
      for (const { http, https } of [kept, single]) {
        http.destroy();
        https.destroy();
      }
    },
  };
}

type CheckedTarget =
  { readonly ok: true; readonly target: Target } | ({ readonly ok: false } & DestinationRefusal);

/** How many checked URLs are cached. A check takes a fifth of the time of a whole request. */
const maxCachedTargets = 1_000;

/**
 * Returns a function that checks a URL against the rules for destinations. It caches the result
 * until the rules change. The addresses that a name resolves to are checked for each connection.
 */
function targetChecker(): (url: string, to: Destinations) => CheckedTarget {
  const cache = new LRUCache<
    string,
    { readonly to: Destinations; readonly checked: CheckedTarget }
  >({
    max: maxCachedTargets,
  });
  return (url, to) => {
    const cached = cache.get(url);
    if (cached?.to === to) return cached.checked;
    const checked = checkTarget(url, to);
    cache.set(url, { to, checked });
    return checked;
  };
}

function checkTarget(url: string, to: Destinations): CheckedTarget {
  const checked = checkUrl(url, to);
  if (!checked.ok) return checked;
  const { protocol, port, pathname, search } = checked.url;
  return {
    ok: true,
    target: { protocol, host: hostOf(checked.url), port, path: pathname + search },
  };
}

/**
 * How long a connection may stay idle. It is less than the five seconds after which many servers,
 * Node's among them, close an idle connection. A server's keep-alive header may shorten it.
 */
const maxIdleMs = 4_000;

/** A busy connection would never notice a DNS change, so each is closed at this age. */
const maxConnectionAgeMs = 60_000;

/**
 * How long to wait for one of a name's addresses before the next is tried. Node's default of 250 ms
 * is too short for distant servers.
 */
const nextAddressMs = 1_000;

/**
 * Returns agents, which keep connections alive by origin if `keepAlive` says so. They never send a
 * request twice: a request that was written to a connection that turns out to be closed fails. The
 * number of connections is not limited here, because the callers limit their requests in flight.
 */
function agents({ keepAlive }: { readonly keepAlive: boolean }): {
  readonly http: http.Agent;
  readonly https: https.Agent;
} {
  const options = {
    keepAlive,
    timeout: maxIdleMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressMs,
  };
  return {
    http: limitAge(new http.Agent(options)),
    // Explicit, because an environment variable could turn verification off.
    https: limitAge(
      new https.Agent({ ...options, rejectUnauthorized: true, minVersion: "TLSv1.2" }),
    ),
  };
}

/**
 * Makes an agent close connections that are too old. (Data that arrives on an idle connection is
 * never taken for a response. Node closes the connection, and versions before 22.23 and 24.17 drop
 * the data.)
 */
function limitAge<A extends http.Agent>(agent: A): A {
  const since = new WeakMap<Duplex, number>();
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const start = since.get(socket) ?? performance.now();
    since.set(socket, start);
    return performance.now() - start <= maxConnectionAgeMs && keep(socket);
  };
  return agent;
}
