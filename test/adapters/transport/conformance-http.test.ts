/** The conformance suite for transports, with a carrier that is a real server. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { TidingsError, type Transport } from "tidings";
import { httpClient } from "tidings/http-client";
import { destinations, type CallbackRequest, type SendAnswer } from "tidings/ports";
import { transportConformance } from "tidings/testing";
import { describe, it } from "vitest";
import { message } from "./world.ts";

const key = "a key of the carrier";
const numbers = ["accepts", "refuses", "throttles", "loses_answer", "fails", "hangs"];
const signatureOf = (body: Uint8Array): string =>
  createHmac("sha256", key).update(body).digest("hex");

interface Order {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** Accepts messages by the last digit of their number, and lists them by their reference. */
async function startCarrier(orders: Map<string, Order>): Promise<Server> {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const end = (status: number, body: object): void =>
      void response.writeHead(status).end(JSON.stringify(body));
    if (request.method === "GET") {
      return end(200, orders.get(request.url?.slice(1) ?? "") ?? { id: null });
    }
    const { reference, ...order } = (await json(request)) as Order & { reference: string };
    const behavior = numbers[Number(order.to.at(-1))];
    if (behavior === "refuses") return end(422, {});
    if (behavior === "throttles") return end(429, {});
    const id = `heron-${orders.size + 1}`;
    orders.set(reference, { ...order, id });
    if (behavior === "accepts") return end(201, { id });
    if (behavior === "fails") return end(503, {});
    if (behavior === "loses_answer") request.socket.destroy();
    return undefined;
  };
  const server = createServer((request, response) => void respond(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

/** Carries messages over real sockets, and finds them by the id of the attempt. */
function heron(url: string): Transport {
  const http = httpClient();
  const to = destinations({ http: true, allow: ["127.0.0.1"] });
  const call = { to, headers: {}, deadline_ms: 10_000, max_body_bytes: 1_024 };
  const parse = (body: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(body));
  const error = { code: "unknown", message: "The carrier gave no reason." } as const;
  return {
    name: "heron",
    capabilities: {
      channels: ["sms"],
      modes: ["live"],
      receipts: { timeout_ms: 60_000, lookups_ms: [] },
      confirms_opt_outs: false,
    },
    async send({ from, to: recipient, body: text }, { attempt_id, signal }): Promise<SendAnswer> {
      const order = { from, to: recipient, text, reference: attempt_id };
      const body = Buffer.from(JSON.stringify(order));
      const exchange = await http.send({ ...call, method: "POST", url, body, signal });
      if (exchange.outcome === "failed") {
        if (exchange.sent) return { outcome: "ambiguous", error };
        return { outcome: "rejected", error, permanent: false };
      }
      const { status } = exchange;
      if (status === 429) {
        return { outcome: "rejected", error: { ...error, code: "throttled" }, permanent: false };
      }
      if (status === 422) return { outcome: "rejected", error, permanent: true };
      if (status !== 201) return { outcome: "ambiguous", error };
      const { id } = parse(exchange.body) as { id: string };
      return { outcome: "accepted", provider_message_id: id };
    },
    async lookup(_, { attempt_id }) {
      const of = `${url}/${attempt_id}`;
      const exchange = await http.send({ ...call, method: "GET", url: of, body: null });
      if (exchange.outcome === "failed") return { outcome: "unknown" };
      const { id } = parse(exchange.body) as { id: string | null };
      if (id === null) return { outcome: "not_sent" };
      return { outcome: "sent", provider_message_id: id, receipts: [] };
    },
    async parseCallback({ headers, body }) {
      const given = Buffer.from(headers["signature"] ?? "");
      const expected = Buffer.from(signatureOf(body));
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new TidingsError("invalid_signature", "The signature does not match.");
      }
      const { receipts, inbound } = parse(body) as Pick<
        Awaited<ReturnType<NonNullable<Transport["parseCallback"]>>>,
        "receipts" | "inbound"
      >;
      return { receipts, inbound, response: { status: 204 } };
    },
  };
}

function callback(content: object): CallbackRequest {
  const body = Buffer.from(JSON.stringify({ receipts: [], inbound: [], ...content }));
  const headers = { signature: signatureOf(body) };
  return { method: "POST", url: "/callbacks", headers, body, received_at: 0 };
}

transportConformance({ describe, it }, "a transport over HTTP", {
  async create() {
    const orders = new Map<string, Order>();
    const server = await startCarrier(orders);
    const { port } = server.address() as AddressInfo;
    return {
      transport: heron(`http://127.0.0.1:${port}`),
      message: (behavior) => ({
        ...message,
        channel: "sms",
        to: `+1500555000${numbers.indexOf(behavior)}`,
      }),
      received: () =>
        [...orders.values()].map(({ from, to, text: body }) => ({ from, to, body, media: [] })),
      callbacks: {
        // This carrier never gives the reason of `undelivered`.
        receipt: ({ provider_message_id }, status, at) =>
          callback({ receipts: [{ subject: { provider_message_id }, receipt: { status, at } }] }),
        inbound: (written) => callback({ inbound: [written] }),
      },
      async remove() {
        server.close().closeAllConnections();
      },
    };
  },
  unable: { pushes: "the carrier calls back" },
});
