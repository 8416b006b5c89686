import * as z from "zod";
import {
  hourMs,
  minuteMs,
  option,
  optionsObject,
  parseOptions,
  type AttemptId,
} from "../../../src/kernel/index.ts";
import type { HttpClient, OutboundMessage, Transport } from "../../../src/ports/index.ts";
import { carrierApi, sendAnswer, strictMediaUrl, type ResponseReader } from "../carrier-api.ts";
import { attemptCallbackUrl } from "../carrier-callbacks.ts";
import { carrierOptions, secretOption } from "../carrier-options.ts";
import { carrierErrorOf, messageSid, readCallback } from "./callbacks.ts";
import { isMessagingService, lookUp } from "./look-up.ts";

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
  readonly callbackUrl?: string | undefined;
  /**
   * The URL of Twilio's API. Another region has its own, such as
   * `https://api.dublin.ie1.twilio.com`. Requests go only to this host, which may have a private
   * address.
   * @default "https://api.twilio.com"
   */
  readonly apiUrl?: string | undefined;
}

const optionsSchema = optionsObject(
  {
    accountSid: option<string>(
      "AC and 32 hexadecimal digits",
      (sid) => typeof sid === "string" && /^AC[0-9a-fA-F]{32}$/.test(sid),
      { advice: beginningOf },
    ),
    authToken: secretOption("the account's auth token"),
    http: carrierOptions.http,
    callbackUrl: carrierOptions.callbackUrl.optional(),
    apiUrl: carrierOptions.apiUrl.optional(),
  },
  "{ accountSid, authToken, http }",
);

/** The kind of a Twilio id. The whole text may be the auth token, in the place of the id. */
function beginningOf(sid: unknown): string {
  return typeof sid === "string" ? ` that begins with "${sid.slice(0, 2)}"` : "";
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
 * @throws TidingsError `invalid_option` when an option is missing, wrong or unknown
 */
export function twilio(options: TwilioOptions): Transport {
  const checked = parseOptions("twilio: ", optionsSchema, options);
  const { accountSid, authToken, http, callbackUrl, apiUrl } = checked;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`;
  const api = carrierApi({ http, apiUrl, defaultUrl: "https://api.twilio.com", authorization });
  const messagesPath = `/2010-04-01/Accounts/${accountSid}/Messages`;

  return {
    name: "twilio",
    capabilities: {
      channels: ["sms", "mms"],
      modes: ["live"],
      receipts: {
        timeout_ms: 72 * hourMs,
        // A receipt may get lost, so there are look-ups even with callbacks. Without callbacks they
        // start earlier.
        lookups_ms: [
          ...(callbackUrl === undefined ? [10_000, minuteMs] : []),
          10 * minuteMs,
          hourMs,
          12 * hourMs,
        ],
      },
      confirms_opt_outs: true,
    },

    async send(message, { attempt_id, signal }) {
      const outcome = await api({
        method: "POST",
        path: `${messagesPath}.json`,
        contentType: "application/x-www-form-urlencoded",
        body: formOf(message, callbackUrl, attempt_id).toString(),
        signal,
      });
      return sendAnswer(outcome, responseReader);
    },

    lookup: (message, attempt) => lookUp(api, messagesPath, message, attempt),

    ...(callbackUrl === undefined
      ? {}
      : { parseCallback: async (request) => readCallback(authToken, callbackUrl, request) }),
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
