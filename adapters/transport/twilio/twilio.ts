import { z } from "zod";
import type { HttpClient } from "../../../src/ports/http-client.ts";
import type { AttemptId } from "../../../src/kernel/ids.ts";
import type { OutboundMessage, Transport } from "../../../src/ports/transport.ts";
import { callbackUrlOf, checkedCallbackUrl } from "../callbacks.ts";
import { carrierApi, type Dialect, hour, minute, sendAnswer, wrongOption } from "../carrier-api.ts";
import { uriOf } from "../uri.ts";
import { readCallback, sidPattern } from "./callbacks.ts";
import { isService, lookUp } from "./look-up.ts";
import { reasonOf } from "./reasons.ts";

export interface TwilioOptions {
  /** `AC…`, and its auth token: Twilio signs what it calls with the token. */
  readonly accountSid: string;
  readonly authToken: string;
  /** Such as `httpClient()` of "tidings/http-client". Yours to close. */
  readonly http: HttpClient;
  /**
   * Where Twilio reaches `/v1/transports/twilio/callbacks`, as Twilio calls it, whatever proxies make of it. Without it nothing comes in,
   * and what became of messages is found by look-ups.
   */
  readonly callbackUrl?: string;
  /** Another region's (`https://api.dublin.ie1.twilio.com`), or a stand-in's; by default `https://api.twilio.com`. */
  readonly apiUrl?: string;
}

const takenSchema = z.object({ sid: z.string().regex(sidPattern) });
const refusedSchema = z.object({ code: z.union([z.number(), z.string()]) });
const dialect: Dialect = {
  idOf: (body) => takenSchema.safeParse(body).data?.sid,
  reasonOf: (body) => reasonOf(refusedSchema.safeParse(body).data?.code),
};

/**
 * SMS and MMS over Twilio (https://www.twilio.com/docs/messaging/api/message-resource). A sender's address is a number, a short code, a
 * name, or a messaging service (`MG…`). Twilio answers STOP, START and HELP itself.
 * @throws TidingsError `invalid_option`
 */
export function twilio({
  accountSid,
  authToken,
  http,
  callbackUrl,
  apiUrl,
}: TwilioOptions): Transport {
  if (!/^AC[0-9a-fA-F]{32}$/.test(accountSid)) {
    throw wrongOption("accountSid", "AC and 32 hexadecimal digits");
  }
  if (authToken === "") throw wrongOption("authToken", "a token");
  const calledBackAt = checkedCallbackUrl(callbackUrl);
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`;
  const api = carrierApi({ http, apiUrl, standardUrl: "https://api.twilio.com", authorization });
  const messagesPath = `/2010-04-01/Accounts/${accountSid}/Messages`;

  return {
    name: "twilio",
    capabilities: {
      channels: ["sms", "mms"],
      modes: ["live"],
      receipts: {
        timeout_ms: 72 * hour,
        // Receipts that are told may get lost; those that aren't are looked for sooner.
        lookups_ms: [
          ...(calledBackAt === undefined ? [minute / 6, minute] : []),
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
        body: form(message, calledBackAt, attempt_id).toString(),
        signal,
      });
      return sendAnswer(outcome, dialect);
    },

    lookup: (message, attempt) => lookUp(api, messagesPath, message, attempt),

    ...(calledBackAt === undefined
      ? {}
      : { parseCallback: async (request) => readCallback(authToken, calledBackAt, request) }),
  };
}

function form(
  { channel, from, to, body, media }: OutboundMessage,
  callbackUrl: string | undefined,
  attempt_id: AttemptId,
): URLSearchParams {
  const fields = new URLSearchParams({
    To: to,
    [isService(from) ? "MessagingServiceSid" : "From"]: from,
  });
  if (body !== "") fields.set("Body", body);
  for (const { url } of media) fields.append("MediaUrl", uriOf(url));
  if (channel === "mms" && media.length === 0) fields.set("SendAsMms", "true");
  if (callbackUrl !== undefined) {
    fields.set("StatusCallback", callbackUrlOf(callbackUrl, attempt_id));
  }
  return fields;
}
