import * as z from "zod";
import type {
  AttemptMade,
  CarriedMessage,
  HttpClient,
  HttpOutcome,
  LookupAnswer,
  OutboundMessage,
  Transport,
} from "../../../src/ports/index.ts";
import {
  type CarrierApi,
  carrierApi,
  jsonOf,
  type ResponseReader,
  sendAnswer,
  strictMediaUrl,
  carrierOptions,
  secretOption,
} from "../carrier-api.ts";
import { carrierErrorOf, messageSid, readCallback, receiptOf } from "./callbacks.ts";
import {
  type AttemptId,
  hourMs,
  minuteMs,
  option,
  optionsObject,
  parseOptions,
} from "../../../src/kernel/index.ts";
import { attemptCallbackUrl } from "../callbacks.ts";

/** How many messages of the list, newest first, are searched. */
const pageSize = 20;
/**
 * A message may belong to an attempt if Twilio created it between these times before and after the
 * attempt began, in milliseconds. Twilio's times are whole seconds by its own clock.
 */
const createdWithin = { before: 5_000, after: 60_000 };

const messageSchema = z.object({
  sid: z.string().regex(messageSid),
  status: z.string(),
  error_code: z.union([z.number(), z.string()]).nullish(),
  date_created: z.string(),
  date_updated: z.string(),
});
const listedSchema = messageSchema.extend({
  direction: z.string(),
  from: z.string().nullish(),
  to: z.string().nullish(),
  messaging_service_sid: z.string().nullish(),
  body: z.string().nullish(),
  num_media: z.coerce.number(),
});
const listSchema = z.object({
  messages: z.array(z.unknown()).max(pageSize),
  next_page_uri: z.string().nullish(),
});

type Listed = z.infer<typeof listedSchema>;

/**
 * Asks Twilio for a message whose id is known. Otherwise searches the latest messages to its
 * recipient for similar ones.
 */
async function lookup(
  api: CarrierApi,
  messagesPath: string,
  message: OutboundMessage,
  attempt: AttemptMade,
): Promise<LookupAnswer> {
  const { provider_message_id } = attempt;
  if (provider_message_id !== null) {
    if (!messageSid.test(provider_message_id)) return { outcome: "unknown" };
    const path = `${messagesPath}/${provider_message_id}.json`;
    const found = messageSchema.safeParse(bodyOf(await api({ method: "GET", path })));
    return found.success
      ? { outcome: "sent", ...carriedMessage(found.data) }
      : { outcome: "unknown" };
  }
  const query = new URLSearchParams({ To: message.to, PageSize: String(pageSize) });
  if (!isMessagingService(message.from)) query.set("From", message.from);
  const list = listSchema.safeParse(
    bodyOf(await api({ method: "GET", path: `${messagesPath}.json?${query.toString()}` })),
  );
  return list.success
    ? similarMessages(list.data, message, attempt.started_at)
    : { outcome: "unknown" };
}

/** Whether a sender's address is a messaging service, which chooses one of its numbers. */
const isMessagingService = (from: string): boolean => /^MG[0-9a-fA-F]{32}$/.test(from);

/**
 * Returns the listed messages that could be the attempt's. An empty result does not prove that the
 * message was not sent, because it may not be in the list yet.
 */
function similarMessages(
  { messages, next_page_uri }: z.infer<typeof listSchema>,
  message: OutboundMessage,
  startedAt: number,
): LookupAnswer {
  const rows = messages.map((each) => listedSchema.safeParse(each));
  if (rows.some(({ success }) => !success)) return { outcome: "unknown" };
  const listed = rows.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const from = startedAt - createdWithin.before;
  const oldest = Math.min(...listed.map(createdAt));
  // The next page may hold similar messages too.
  if (next_page_uri && !(oldest < from)) return { outcome: "unknown" };
  const within = listed.filter(
    (each) => createdAt(each) >= from && createdAt(each) <= startedAt + createdWithin.after,
  );
  return {
    outcome: "alike",
    messages: within.filter((each) => isSimilar(each, message)).map(carriedMessage),
  };
}

function isSimilar(listed: Listed, { from, to, body, media }: OutboundMessage): boolean {
  const sender = isMessagingService(from) ? listed.messaging_service_sid : listed.from;
  const isSame = sender === from && listed.to === to && (listed.body ?? "") === body;
  return isSame && listed.num_media === media.length && listed.direction.startsWith("outbound");
}

const createdAt = ({ date_created }: Pick<Listed, "date_created">): number =>
  Date.parse(date_created);

function carriedMessage({
  sid,
  status,
  error_code,
  date_updated,
}: z.infer<typeof messageSchema>): CarriedMessage {
  const receipt = receiptOf(status, error_code, Date.parse(date_updated));
  return { provider_message_id: sid, receipts: receipt === undefined ? [] : [receipt] };
}

function bodyOf(outcome: HttpOutcome): unknown {
  return outcome.outcome === "answered" && outcome.status === 200 ? jsonOf(outcome) : undefined;
}

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
   * The URL of Twilio's API. The default is `https://api.twilio.com`. Another region has its own,
   * such as `https://api.dublin.ie1.twilio.com`. Requests go only to this host, which may have a
   * private address.
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
  const { accountSid, authToken, http, callbackUrl: callbackBase, apiUrl } = checked;
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
          ...(callbackBase === undefined ? [minuteMs / 6, minuteMs] : []),
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
