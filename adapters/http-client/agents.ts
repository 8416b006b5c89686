import http from "node:http";
import https from "node:https";
import type { Duplex } from "node:stream";

/** Less than the five seconds after which many servers, Node's own among them, close an idle connection. A server's hint may shorten it. */
const idleMs = 4_000;

/** A busy connection would never hear that its name leads elsewhere by now, so it ends some day. */
const oldestMs = 60_000;

/** A name that has several addresses: how long to wait for one before the next is tried. Node's own 250 ms give up far places. */
const nextAddressMs = 1_000;

/**
 * Agents that keep connections, by origin. They never send a request twice: one that was written to a connection that turns out closed
 * has failed. Not limited in number: who sends bounds what is in flight, and idle connections go soon.
 */
export function keepingAgents(): { readonly http: http.Agent; readonly https: https.Agent } {
  const options = {
    keepAlive: true,
    timeout: idleMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressMs,
  };
  return {
    http: ageing(new http.Agent(options)),
    // Said outright, since an environment variable could say otherwise.
    https: ageing(new https.Agent({ ...options, rejectUnauthorized: true, minVersion: "TLSv1.2" })),
  };
}

/** Keeps no connection for too long. (One that speaks unasked while it is kept is closed by Node: nobody takes it for a response.) */
function ageing<A extends http.Agent>(agent: A): A {
  const since = new WeakMap<Duplex, number>();
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const start = since.get(socket) ?? performance.now();
    since.set(socket, start);
    return performance.now() - start <= oldestMs && keep(socket);
  };
  return agent;
}
