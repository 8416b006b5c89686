/** The way to the carrier, which is outside of the processes that are killed. */
import type { LookupAnswer, SendAnswer, Transport } from "tidings";
import { TidingsError } from "tidings";

export interface CarrierSettings {
  readonly name: string;
  readonly url: string;
  /** By which carrier and transport know each other. */
  readonly secret: string;
}

export interface SendCall {
  readonly attempt_id: string;
  readonly text: string;
}

/** What the carrier tells, when a message has arrived. */
export interface Arrival {
  readonly attempt_id: `att_${string}`;
  readonly at: number;
}

const hours = 3_600_000;

export function carrierTransport({ name, url, secret }: CarrierSettings): Transport {
  const call = async <T>(path: string, body: object, signal?: AbortSignal): Promise<T> => {
    const headers = { Authorization: secret };
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
    // Whatever is thrown here means that nobody knows whether the message left.
    if (!response.ok) throw new Error(`the carrier answered ${response.status}`);
    return (await response.json()) as T;
  };
  return {
    name,
    capabilities: {
      channels: ["sms"],
      modes: ["live"],
      receipts: { timeout_ms: 72 * hours, lookups_ms: [] },
      confirms_opt_outs: false,
    },
    send: ({ body }, { attempt_id, signal }) =>
      call<SendAnswer>("/send", { attempt_id, text: body }, signal),
    lookup: (_message, { attempt_id }) => call<LookupAnswer>("/lookup", { attempt_id }),
    parseCallback({ headers, body }) {
      if (headers["authorization"] !== secret) {
        return Promise.reject(new TidingsError("invalid_api_key", "This is not the carrier."));
      }
      const { attempt_id, at } = JSON.parse(Buffer.from(body).toString()) as Arrival;
      const receipts = [{ subject: { attempt_id }, receipt: { status: "delivered", at } }] as const;
      return Promise.resolve({ receipts, inbound: [], response: { status: 204 } });
    },
  };
}
