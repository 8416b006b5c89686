import { checkUrl } from "../../src/destinations/destinations.ts";
import type { HttpClient } from "../../src/ports/http-client.ts";
import { keepingAgents } from "./agents.ts";
import { exchange } from "./exchange.ts";
import { Failure, failed } from "./failures.ts";
import { nameResolver } from "./resolve.ts";

export interface HttpClientOptions {
  /** Whom to ask for public names (`"9.9.9.9"`, `"[2620:fe::fe]:53"`); by default the system's DNS servers. */
  readonly dnsServers?: readonly string[];
}

/**
 * The engine's way out, on `node:http` and `node:https`: HTTP/1.1, connections kept and used again, no proxy whatever the environment
 * says, certificates always verified. Extra authorities come from `NODE_EXTRA_CA_CERTS`.
 */
export function httpClient({ dnsServers }: HttpClientOptions = {}): HttpClient {
  const agents = keepingAgents();
  const resolve = nameResolver(dnsServers);
  return {
    async send(request) {
      const check = checkUrl(request.url, request.to);
      if (!check.ok) return failed(new Failure(check.code, check.message));
      const agent = check.url.protocol === "https:" ? agents.https : agents.http;
      return exchange(request, check.url, agent, resolve);
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
