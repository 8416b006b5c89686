import { z } from "zod";
import type { AttemptId } from "../../../src/kernel/index.ts";
import type { HttpClient, OutboundMessage, Transport } from "../../../src/ports/index.ts";
import { attemptCallbackUrl, checkedCallbackUrl } from "../callbacks.ts";
import {
  carrierApi,
  hour,
  minute,
  type ResponseReader,
  sendAnswer,
  strictMediaUrl,
  wrongOption,
} from "../carrier-api.ts";
import { carrierErrorOf, messageSid, readCallback } from "./callbacks.ts";
import { isMessagingService, lookup } from "./lookup.ts";

/** Options of `twilio()`. */
export interface TwilioOptions {
  /** The account's SID: `AC` and 32 hexadecimal digits. */
  readonly accountSid: string;
  /**
   * The account's auth token. It authenticates requests to Twilio and verifies the signatures of
   * Twilio's callbacks.
   */
  readonly authToken: string;
  /**
   * The HTTP client, such as `httpClient()` of `tidings/http-client`. The host application closes
   * it.
   */
  readonly http: HttpClient;
  /**
   * The URL at which Twilio reaches `/v1/transports/twilio/callbacks`, exactly as Twilio calls it,
   * before any proxy changes it. It is an http or https URL without query and fragment. Without it
   * there are no receipts and no inbound messages, and the engine finds the outcome of messages by
   * look-ups.
   */
  readonly callbackUrl?: string;
  /**
   * The URL of Twilio's API. The default is `https://api.twilio.com`. Another region has its own,
   * such as `https://api.dublin.ie1.twilio.com`. Requests go only to this host, which may have a
   * private address.
   */
  readonly apiUrl?: string;
}

const acceptedSchema = z.object({ sid: z.string().regex(messageSid) });
const refusedSchema = z.object({ code: z.union([z.number(), z.string()]) });
const responseReader: ResponseReader = {
  idOf: (body) => acceptedSchema.safeParse(body).data?.sid,
  errorOf: (body) => carrierErrorOf(refusedSchema.safeParse(body).data?.code),
};

/**
 * Returns a transport that sends and receives SMS and MMS through Twilio
 * (https://www.twilio.com/docs/messaging/api/message-resource). A sender's address is a phone
 * number, a short code, an alphanumeric sender id, or a messaging service (`MG…`). Twilio answers
 * STOP, START and HELP itself.
 * @throws TidingsError `invalid_option` when an option has the wrong form
 */
export function twilio({
  accountSid,
  authToken,
  http,
  callbackUrl,
  apiUrl,
}: TwilioOptions): Transport {
  if (!/^AC[0-9a-fA-F]{32}$/.test(accountSid)) {
    throw wrongOption("accountSid", "AC and 32 hexadecimal digits", accountSid);
  }
  if (authToken === "") throw wrongOption("authToken", "the account's auth token");
  const callbackBase = checkedCallbackUrl(callbackUrl);
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`;
  const api = carrierApi({ http, apiUrl, defaultUrl: "https://api.twilio.com", authorization });
  const messagesPath = `/2010-04-01/Accounts/${accountSid}/Messages`;

  return {
    name: "twilio",
    capabilities: {
      channels: ["sms", "mms"],
      modes: ["live"],
      receipts: {
        timeout_ms: 72 * hour,
        // A receipt may get lost, so there are look-ups even with callbacks. Without callbacks they
        // start earlier.
        lookups_ms: [
          ...(callbackBase === undefined ? [minute / 6, minute] : []),
          10 * minute,
          hour,
          12 * hour,
        ],
      },
      confirms_opt_outs: true,
    },

    async send(message, { attempt_id, signal }) {
      const outcome = await api({
        method: "POST",
        path: `${messagesPath}.json`,
        contentType: "application/x-www-form-urlencoded",
        body: formOf(message, callbackBase, attempt_id).toString(),
        signal,
      });
      return sendAnswer(outcome, responseReader);
    },

    lookup: (message, attempt) => lookup(api, messagesPath, message, attempt),

    ...(callbackBase === undefined
      ? {}
      : { parseCallback: async (request) => readCallback(authToken, callbackBase, request) }),
  };
}

function formOf(
  { channel, from, to, body, media }: OutboundMessage,
  callbackUrl: string | undefined,
  attempt_id: AttemptId,
): URLSearchParams {
  const fields = new URLSearchParams({
    To: to,
    [isMessagingService(from) ? "MessagingServiceSid" : "From"]: from,
  });
  if (body !== "") fields.set("Body", body);
  for (const { url } of media) fields.append("MediaUrl", strictMediaUrl(url));
  if (channel === "mms" && media.length === 0) fields.set("SendAsMms", "true");
  if (callbackUrl !== undefined) {
    fields.set("StatusCallback", attemptCallbackUrl(callbackUrl, attempt_id));
  }
  return fields;
}
