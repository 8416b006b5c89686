import type { HttpClient } from "../../src/ports/http-client.ts";
import { keepingAgents } from "./agents.ts";
import { exchange } from "./exchange.ts";
import { Failure, failed } from "./failures.ts";
import { nameResolver } from "./resolve.ts";
import { targets } from "./target.ts";

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
  const checkedTarget = targets();
  return {
    async send(request) {
      const checked = checkedTarget(request.url, request.to);
      if (!checked.ok) return failed(new Failure(checked.code, checked.message));
      const { target } = checked;
      return exchange(
        request,
        target,
        target.protocol === "https:" ? agents.https : agents.http,
        resolve,
      );
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
