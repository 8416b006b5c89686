import { TidingsError } from "tidings";
import type { LookupAnswer, SendAnswer, Transport } from "../../../src/ports/transport.ts";
import { post } from "../outside/http.ts";
import {
  sharedSecret,
  signatureHeader,
  signatureOf,
  transportName,
  type CallbackBody,
  type LookupCall,
  type SendCall,
} from "../outside/protocol.ts";

/** A transport to the carrier of the crash test. A call without an answer throws. */
export function outsideTransport(url: string): Transport {
  const call = async <T>(
    path: string,
    body: SendCall | LookupCall,
    signal?: AbortSignal,
  ): Promise<T> => {
    const headers = { authorization: sharedSecret };
    const reply = await post(
      `${url}${path}`,
      JSON.stringify(body),
      signal === undefined ? { headers } : { headers, signal },
    );
    if (reply.status !== 200) throw new Error(`the carrier answered ${reply.status}`);
    return JSON.parse(reply.body) as T;
  };
  return {
    name: transportName,
    capabilities: {
      channels: ["sms"],
      modes: ["live"],
      receipts: { timeout_ms: 72 * 3_600_000, lookups_ms: [15_000, 60_000, 300_000] },
      confirms_opt_outs: false,
    },
    send: ({ message_id, to }, { attempt_id, number, signal }) =>
      call<SendAnswer>("/send", { attempt_id, number, message_id, to }, signal),
    lookup: (_message, { attempt_id }) => call<LookupAnswer>("/lookup", { attempt_id }),
    parseCallback({ headers, body }) {
      if (headers[signatureHeader] !== signatureOf(body)) {
        return Promise.reject(
          new TidingsError("invalid_api_key", "The callback's signature is not the carrier's."),
        );
      }
      const receipt = JSON.parse(Buffer.from(body).toString()) as CallbackBody;
      return Promise.resolve({ receipts: [receipt], inbound: [], response: { status: 204 } });
    },
  };
}
