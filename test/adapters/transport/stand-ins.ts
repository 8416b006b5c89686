/**
 * Stand-ins for carriers behind a fake HTTP client. They keep accepted messages, and the
 * recipient's number decides how they treat a message.
 */
import type {
  CarrierBehavior,
  CarrierCallbacks,
  ReceivedMessage,
  TransportUnderTest,
} from "../../../adapters/testing/index.ts";
import type { HttpClient, HttpOutcome, HttpRequest } from "../../../src/ports/http-client.ts";
import type { OutboundMessage } from "../../../src/ports/transport.ts";
import {
  accountSid,
  answered,
  broke,
  fromTelnyx,
  fromTwilio,
  line,
  message,
  overTelnyx,
  overTwilio,
  sid,
  uuid,
} from "./world.ts";

const behaviors: readonly CarrierBehavior[] = [
  "accepts",
  "refuses",
  "throttles",
  "loses_answer",
  "fails",
  "hangs",
];
const numberOf = (behavior: CarrierBehavior): string => `+1500555100${behaviors.indexOf(behavior)}`;
const behaviorOf = (to: string): CarrierBehavior => behaviors[Number(to.at(-1))] ?? "accepts";

/** Resolves only when the call is aborted. */
const silence = ({ signal }: HttpRequest): Promise<HttpOutcome> =>
  new Promise((end) => {
    const over = (): void => end({ ...broke(true), code: "aborted" } as HttpOutcome);
    if (signal?.aborted === true) over();
    signal?.addEventListener("abort", over);
  });

const text = (body: Uint8Array | null): string => new TextDecoder().decode(body ?? undefined);

/** The pause that the stand-ins ask for when they throttle a message. */
const retryAfterMs = 2_000;

interface Dialect<Row> {
  readonly rows: Row[];
  take(request: HttpRequest): Row;
  to(request: HttpRequest): string;
  taken(row: Row): HttpOutcome;
  refused(): HttpOutcome;
  find(url: URL): HttpOutcome;
}

/** What every carrier does, independent of its API. */
function carrier<Row>(dialect: Dialect<Row>): HttpClient {
  return line((request) => {
    if (request.signal?.aborted === true) return broke(false, "connect_refused");
    if (request.method === "GET") return dialect.find(new URL(request.url));
    switch (behaviorOf(dialect.to(request))) {
      case "accepts":
        return dialect.taken(dialect.take(request));
      case "refuses":
        return dialect.refused();
      case "throttles":
        return answered(429, {}, { "retry-after": String(retryAfterMs / 1_000) });
      case "loses_answer":
        dialect.take(request);
        return broke(true);
      case "fails":
        dialect.take(request);
        return answered(500, "<html>");
      case "hangs":
        dialect.take(request);
        return silence(request);
    }
  });
}

export interface TwilioRow {
  readonly sid: string;
  status: string;
  readonly error_code: number | null;
  readonly date_created: string;
  readonly date_updated: string;
  readonly direction: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly messaging_service_sid: string | null;
  readonly body: string | null;
  readonly num_media: string;
}

/** Messages as Twilio lists them, newest first. */
export function twilioCarrier(now: () => number): {
  readonly http: HttpClient;
  readonly rows: TwilioRow[];
  readonly received: ReceivedMessage[];
} {
  const rows: TwilioRow[] = [];
  const received: ReceivedMessage[] = [];
  const http = carrier<TwilioRow>({
    rows,
    to: ({ body }) => new URLSearchParams(text(body)).get("To") ?? "",
    take({ body }) {
      const form = new URLSearchParams(text(body));
      const date = new Date(now()).toUTCString().replace("GMT", "+0000");
      const row = {
        sid: sid(rows.length + 1),
        status: "queued",
        error_code: null,
        date_created: date,
        date_updated: date,
        direction: "outbound-api",
        from: form.get("From"),
        to: form.get("To"),
        messaging_service_sid: form.get("MessagingServiceSid"),
        body: form.get("Body") ?? "",
        num_media: String(form.getAll("MediaUrl").length),
      };
      rows.unshift(row);
      received.push({
        from: form.get("From") ?? "",
        to: form.get("To") ?? "",
        body: form.get("Body") ?? "",
        media: form.getAll("MediaUrl"),
      });
      return row;
    },
    taken: (row) => answered(201, row),
    refused: () => answered(400, { code: 21211, message: "Invalid 'To'", status: 400 }),
    find({ pathname, searchParams }) {
      const one = rows.find((row) => pathname.endsWith(`/${row.sid}.json`));
      if (one !== undefined) return answered(200, one);
      if (!pathname.endsWith(`/${accountSid}/Messages.json`)) return answered(404, { code: 20404 });
      const from = searchParams.get("From");
      const listed = rows.filter(
        (row) => row.to === searchParams.get("To") && (from === null || row.from === from),
      );
      const size = Number(searchParams.get("PageSize"));
      return answered(200, {
        messages: listed.slice(0, size),
        next_page_uri: listed.length > size ? "/next" : null,
      });
    },
  });
  return { http, rows, received };
}

const twilioStatuses = {
  sent: "sent",
  delivered: "delivered",
  undelivered: "undelivered",
  read: "read",
} as const;

const twilioCallbacks: CarrierCallbacks = {
  receipt: ({ attempt_id, provider_message_id, message: { from, to } }, status, at) =>
    fromTwilio(
      [
        ["AccountSid", accountSid],
        ["ApiVersion", "2010-04-01"],
        ["From", from],
        ["MessageSid", provider_message_id],
        ["MessageStatus", twilioStatuses[status]],
        ["SmsSid", provider_message_id],
        ["SmsStatus", twilioStatuses[status]],
        ["To", to],
        ...(status === "undelivered" ? ([["ErrorCode", "30003"]] as const) : []),
      ],
      `?attempt=${attempt_id}`,
      at,
    ),
  inbound: ({ provider_message_id, from, to, body, media, at }) =>
    fromTwilio(
      [
        ["AccountSid", accountSid],
        ["Body", body],
        ["From", from],
        ["MessageSid", `MM${"1".repeat(31)}${provider_message_id.at(-1)}`],
        ["NumMedia", String(media.length)],
        ["SmsStatus", "received"],
        ["To", to],
        ...media.flatMap(({ url, content_type = "" }, i) => [
          [`MediaUrl${i}`, url] as const,
          [`MediaContentType${i}`, content_type] as const,
        ]),
      ],
      "",
      at,
    ),
};

export interface TelnyxRow {
  readonly record_type: "message";
  readonly direction: "outbound";
  readonly id: string;
  readonly to: { readonly phone_number: string; status: string }[];
  readonly webhook_url: string;
}

/** The fields of a request that sends a message. */
interface TelnyxMessage {
  readonly from: string;
  readonly to: string;
  readonly text?: string;
  readonly media_urls?: readonly string[];
  readonly webhook_url: string;
}

export function telnyxCarrier(): {
  readonly http: HttpClient;
  readonly rows: TelnyxRow[];
  readonly received: ReceivedMessage[];
} {
  const rows: TelnyxRow[] = [];
  const received: ReceivedMessage[] = [];
  const sent = ({ body }: HttpRequest) => JSON.parse(text(body)) as TelnyxMessage;
  const http = carrier<TelnyxRow>({
    rows,
    to: (request) => sent(request).to,
    take(request) {
      const { from, to, text: body = "", media_urls: media = [], webhook_url } = sent(request);
      const row: TelnyxRow = {
        record_type: "message",
        direction: "outbound",
        id: uuid(rows.length + 1),
        to: [{ phone_number: to, status: "queued" }],
        webhook_url,
      };
      rows.push(row);
      received.push({ from, to, body, media });
      return row;
    },
    taken: (data) => answered(200, { data }),
    refused: () => answered(422, { errors: [{ code: "40310", title: "Invalid 'to' address" }] }),
    find({ pathname }) {
      const data = rows.find(({ id }) => pathname.endsWith(`/v2/messages/${id}`));
      return data === undefined
        ? answered(404, { errors: [{ code: "10005", title: "Resource not found" }] })
        : answered(200, { data });
    },
  });
  return { http, rows, received };
}

const telnyxStatuses = {
  sent: "sent",
  delivered: "delivered",
  undelivered: "delivery_failed",
  read: undefined,
} as const;

const telnyxCallbacks: CarrierCallbacks = {
  receipt({ attempt_id, provider_message_id, message: { from, to } }, status, at) {
    const theirs = telnyxStatuses[status];
    if (theirs === undefined) return undefined;
    const errors = theirs === "delivery_failed" ? [{ code: "40008", title: "Undeliverable" }] : [];
    const payload = {
      record_type: "message",
      direction: "outbound",
      id: provider_message_id,
      from: { phone_number: from },
      to: [{ phone_number: to, status: theirs, carrier: "T", line_type: "Wireless" }],
      errors,
      webhook_url: `https://shop.example/api/v1/transports/telnyx/callbacks?attempt=${attempt_id}`,
    };
    const event_type = theirs === "sent" ? "message.sent" : "message.finalized";
    return fromTelnyx(
      { data: { event_type, occurred_at: new Date(at).toISOString(), payload } },
      at,
      `?attempt=${attempt_id}`,
    );
  },
  inbound({ provider_message_id, from, to, body, media, at }) {
    const payload = {
      direction: "inbound",
      id: uuid(90 + Number(provider_message_id.at(-1))),
      type: media.length > 0 ? "MMS" : "SMS",
      from: { phone_number: from, carrier: "T", line_type: "Wireless" },
      to: [{ phone_number: to, status: "webhook_delivered" }],
      text: body,
      media: media.map(({ url, content_type }) => ({ url, content_type, size: 1 })),
      received_at: new Date(at).toISOString(),
    };
    return fromTelnyx(
      {
        data: { event_type: "message.received", occurred_at: new Date(at).toISOString(), payload },
      },
      at,
    );
  },
};

/** A message that the stand-ins treat in this way. */
export const to = (behavior: CarrierBehavior): OutboundMessage => ({
  ...message,
  to: numberOf(behavior),
});

export function twilioUnderTest(now: () => number): TransportUnderTest {
  const { http, received } = twilioCarrier(now);
  return {
    transport: overTwilio(http),
    message: to,
    received: () => received,
    retryAfterMs,
    callbacks: twilioCallbacks,
  };
}

export function telnyxUnderTest(): TransportUnderTest {
  const { http, received } = telnyxCarrier();
  return {
    transport: overTelnyx(http),
    message: to,
    received: () => received,
    retryAfterMs,
    callbacks: telnyxCallbacks,
  };
}
