/** The requests that the engine sends to webhooks, one for each event type. */
import { eventSchemaId, eventTypeName, eventTypes, type EventType } from "../../events/index.ts";
import { iso } from "../../kernel/index.ts";
import type { Tag } from "../../operations/index.ts";
import { sampleData } from "../../sandbox/index.ts";
import { ref, type JsonSchema } from "./schemas.ts";

export const webhookTag: Tag = {
  name: "Webhook requests",
  description:
    "What the engine sends to the URL of a webhook: a POST request with one event as its body, " +
    "signed as [Standard Webhooks](https://www.standardwebhooks.com) describe. Verify the " +
    "signature over the bytes of the body, before you parse them. An event can arrive more than " +
    "once, and after later ones. Its `webhook-id` is the same each time. An attempt has failed " +
    "without a 2xx response within 15 seconds, which the option `webhooks.deadlineSeconds` " +
    "changes. A delivery has up to five attempts: at once, and 1 minute, 10 minutes, 2 hours and " +
    "16 hours after the one before has failed. The response to a test, a redelivery or a " +
    "recovery neither pauses nor disables the webhook.",
};

/** What the docstrings of `EventMap` say of each event type. */
export type EventDescriptions = Readonly<Record<string, string>>;

/** The section `webhooks` of the document. */
export function webhookItems(descriptions: EventDescriptions): Readonly<Record<EventType, object>> {
  const items = eventTypes.map((type) => [type, { post: requestOf(type, descriptions[type]) }]);
  return Object.fromEntries(items) as Record<EventType, object>;
}

/** The schemas of the events, which have one type, `EventEnvelope`, but not one description. */
export function eventSchemas(
  components: Readonly<Record<string, JsonSchema>>,
  descriptions: EventDescriptions,
): Readonly<Record<string, object>> {
  const schemas = eventTypes.map((type): [string, object] => {
    const id = eventSchemaId(type);
    return [id, { ...components[id], description: descriptions[type] }];
  });
  return Object.fromEntries(schemas);
}

function requestOf(type: EventType, description: string | undefined): object {
  return {
    operationId: `on${eventTypeName(type)}`,
    summary: type,
    description,
    tags: [webhookTag.name],
    security: [],
    parameters: Object.keys(webhookParameters).map((name) => ref("parameters", name)),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: ref("schemas", eventSchemaId(type)),
          example: exampleOf(type),
        },
      },
    },
    responses: {
      "2XX": ref("responses", "WebhookSucceeded"),
      410: ref("responses", "WebhookGone"),
      429: ref("responses", "WebhookPaused"),
      503: ref("responses", "WebhookPaused"),
      default: ref("responses", "WebhookFailed"),
    },
  };
}

const exampleTime = Date.UTC(2026, 0, 31, 9);

/** Each document has the same example, so that its entity tag is the same in each process. */
function exampleOf(type: EventType): object {
  return {
    id: "evt_01JSAMP1E00000000000000000",
    type,
    created_at: iso(exampleTime),
    data: sampleData(type, { now: exampleTime }),
  };
}

const header = (name: string, description: string, schema: object): object => ({
  name,
  in: "header",
  required: true,
  description,
  schema,
});

export const webhookParameters = {
  WebhookId: header(
    "webhook-id",
    "The id of the event. It is the same in each attempt, so repetitions can be skipped by it.",
    { type: "string" },
  ),
  WebhookTimestamp: header(
    "webhook-timestamp",
    "When the attempt began, in seconds since 1970-01-01T00:00:00Z. Refuse a request whose time " +
      "is more than five minutes away, so that nobody can replay it later.",
    { type: "integer" },
  ),
  WebhookSignature: header(
    "webhook-signature",
    "One signature, or two with a space between them for a while after the secret was rotated. " +
      "Accept the request if one of them is right. Each is `v1,` and the base64 of the " +
      "HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. The key is what follows " +
      "`whsec_` in the secret, decoded from base64.",
    { type: "string" },
  ),
};

export const webhookResponses = {
  WebhookSucceeded: {
    description: "The event was received. No retry follows. The body is only recorded.",
  },
  WebhookGone: {
    description:
      "The endpoint no longer exists. The delivery has failed, no retry follows, and the webhook " +
      "is disabled until you enable it again.",
  },
  WebhookPaused: {
    description:
      "The attempt has failed. With `Retry-After`, the webhook gets no requests for that time, " +
      "at most an hour, and the retry waits for all of it, within 24 hours of the first attempt.",
    headers: {
      "Retry-After": {
        description: "Seconds to wait, or an HTTP date (RFC 9110).",
        schema: { type: "string" },
      },
    },
  },
  WebhookFailed: {
    description:
      "The attempt has failed, like one without a complete response within the deadline. " +
      "Redirects are not followed. A retry follows after the next wait of the schedule, or later " +
      "if `Retry-After` says so, within 24 hours of the first attempt. Five days without a " +
      "success disable the webhook, if at least ten attempts on at least three days failed.",
  },
};
