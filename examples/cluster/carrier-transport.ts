/** Connects the engines to the simulated carrier, which runs in the main process. */
import { TidingsError, type Transport } from "tidings";
import type { LookupAnswer, SendAnswer } from "tidings/ports";

export interface CarrierSettings {
  readonly name: string;
  readonly url: string;
  /** Authenticates the transport to the carrier, and the carrier's callbacks to the engine. */
  readonly secret: string;
}

export interface SendRequest {
  readonly attempt_id: string;
  readonly text: string;
}

/** What the carrier posts when a message has arrived. */
export interface DeliveryReceipt {
  readonly attempt_id: `att_${string}`;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const hourMs = 3_600_000;

export function carrierTransport({ name, url, secret }: CarrierSettings): Transport {
  const call = async <T>(path: string, body: object, signal?: AbortSignal): Promise<T> => {
    const headers = { Authorization: secret };
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
    // The engine treats an error from `send` as ambiguous: the message may have been sent.
    if (!response.ok) throw new Error(`the carrier returned ${response.status}`);
    return (await response.json()) as T;
  };
  return {
    name,
    capabilities: {
      channels: ["sms"],
      modes: ["live"],
      receipts: { timeout_ms: 72 * hourMs, lookups_ms: [] },
      confirms_opt_outs: false,
    },
    send: ({ body }, { attempt_id, signal }) =>
      call<SendAnswer>("/send", { attempt_id, text: body }, signal),
    lookup: (_message, { attempt_id }) => call<LookupAnswer>("/lookup", { attempt_id }),
    async parseCallback({ headers, body }) {
      if (headers["authorization"] !== secret) {
        const message = "The callback does not have the carrier's secret.";
        throw new TidingsError("invalid_signature", message);
      }
      const { attempt_id, at } = JSON.parse(Buffer.from(body).toString()) as DeliveryReceipt;
      const receipts = [{ subject: { attempt_id }, receipt: { status: "delivered", at } }] as const;
      return { receipts, inbound: [], response: { status: 204 } };
    },
  };
}
