import * as z from "zod";
import {
  hourMs,
  minuteMs,
  option,
  optionsObject,
  parseOptions,
} from "../../../src/kernel/index.ts";
import type { HttpClient, OutboundMessage, Transport } from "../../../src/ports/index.ts";
import {
  carrierApi,
  jsonOf,
  sendAnswer,
  strictMediaUrl,
  type ResponseReader,
} from "../carrier-api.ts";
import { attemptCallbackUrl } from "../carrier-callbacks.ts";
import { carrierOptions, secretOption } from "../carrier-options.ts";
import {
  carrierErrorOf,
  errorSchema,
  messageId,
  outboundSchema,
  publicKeyOf,
  readEvent,
  receiptOf,
  verifySignature,
} from "./callbacks.ts";

/** Options of `telnyx()`. */
export interface TelnyxOptions {
  /** The account's API key. */
  readonly apiKey: string;
  /**
   * The account's public key, 32 bytes in base64. It verifies the signatures of Telnyx's callbacks.
   */
  readonly publicKey: string;
  /**
   * The HTTP client, such as `httpClient()` of `tidings/http-client`. The host application closes
   * it.
   */
  readonly http: HttpClient;
  /**
   * The URL at which Telnyx reaches `/v1/transports/telnyx/callbacks`. It is an http or https URL
   * without query and fragment. For inbound messages, set the same URL in the messaging profile.
   */
  readonly callbackUrl: string;
  /**
   * The id (a UUID) of the messaging profile for messages whose sender is an alphanumeric sender
   * id. Telnyx refuses such messages without a profile.
   */
  readonly messagingProfileId?: string | undefined;
  /**
   * The URL of Telnyx's API. Requests go only to this host, which may have a private address.
   * @default "https://api.telnyx.com"
   */
  readonly apiUrl?: string | undefined;
}

const optionsSchema = optionsObject(
  {
    apiKey: secretOption("the account's API key"),
    publicKey: option<string>(
      "32 bytes in base64",
      (key) => typeof key === "string" && Buffer.from(key, "base64").length === 32,
    ),
    http: carrierOptions.http,
    callbackUrl: carrierOptions.callbackUrl,
    messagingProfileId: option<string>("the UUID of a messaging profile", isProfileId, {
      isQuoted: true,
    }).optional(),
    apiUrl: carrierOptions.apiUrl.optional(),
  },
  "{ apiKey, publicKey, http, callbackUrl }",
);

const acceptedSchema = z.object({ data: z.object({ id: messageId }) });
const refusedSchema = z.object({ errors: z.array(errorSchema).min(1) });
const foundSchema = z.object({ data: outboundSchema });
const responseReader: ResponseReader = {
  idOf: (body) => acceptedSchema.safeParse(body).data?.data.id,
  errorOf: (body) => carrierErrorOf(refusedSchema.safeParse(body).data?.errors[0]),
};

/**
 * Returns a transport that sends and receives SMS and MMS through Telnyx
 * (https://developers.telnyx.com/api-reference/messages/send-a-message). A sender's address is a
 * phone number, a short code, an alphanumeric sender id, or the id of a messaging profile, which
 * chooses one of its numbers. Telnyx answers STOP, START and HELP itself.
 * @throws TidingsError `invalid_option` when an option is missing, wrong or unknown
 */
export function telnyx(options: TelnyxOptions): Transport {
  const checked = parseOptions("telnyx: ", optionsSchema, options);
  const { apiKey, publicKey, http, callbackUrl, messagingProfileId, apiUrl } = checked;
  const key = publicKeyOf(publicKey);
  const authorization = `Bearer ${apiKey}`;
  const api = carrierApi({ http, apiUrl, defaultUrl: "https://api.telnyx.com", authorization });

  return {
    name: "telnyx",
    capabilities: {
      channels: ["sms", "mms"],
      modes: ["live"],
      receipts: { timeout_ms: 72 * hourMs, lookups_ms: [10 * minuteMs, hourMs, 12 * hourMs] },
      confirms_opt_outs: true,
    },

    async send(message, { attempt_id, signal }) {
      const webhook_url = attemptCallbackUrl(callbackUrl, attempt_id);
      const body = JSON.stringify({ ...request(message, messagingProfileId), webhook_url });
      const call = {
        method: "POST",
        path: "/v2/messages",
        contentType: "application/json",
        body,
        signal,
      } as const;
      return sendAnswer(await api(call), responseReader);
    },

    /** Telnyx finds a message only by its id, and has no list of messages. */
    async lookup(_message, { provider_message_id, signal }) {
      if (provider_message_id === null || !messageId.safeParse(provider_message_id).success) {
        return { outcome: "unknown" };
      }
      const path = `/v2/messages/${provider_message_id}`;
      const found = foundSchema.safeParse(jsonOf(await api({ method: "GET", path, signal })));
      if (!found.success || found.data.data.id !== provider_message_id) {
        return { outcome: "unknown" };
      }
      const { data } = found.data;
      const receipt = receiptOf(data, Date.parse(data.completed_at ?? ""));
      return {
        outcome: "sent",
        provider_message_id,
        receipts: receipt === undefined ? [] : [receipt],
      };
    },

    async parseCallback(callback) {
      verifySignature(key, callback);
      return readEvent(callback);
    },
  };
}

function request(
  { channel, from, to, body, media }: OutboundMessage,
  profile: string | undefined,
): object {
  return {
    to,
    ...senderOf(from, profile),
    type: channel === "mms" ? "MMS" : "SMS",
    ...(body === "" ? {} : { text: body }),
    ...(media.length === 0 ? {} : { media_urls: media.map(({ url }) => strictMediaUrl(url)) }),
  };
}

function isProfileId(text: unknown): boolean {
  return z.uuid().safeParse(text).success;
}

function senderOf(from: string, profile: string | undefined): object {
  if (isProfileId(from)) return { messaging_profile_id: from };
  return /[a-z]/i.test(from) ? { from, messaging_profile_id: profile } : { from };
}
