import * as z from "zod";
import type {
  CarriedMessage,
  HttpOutcome,
  LookupAnswer,
  LookupContext,
  OutboundMessage,
} from "../../../src/ports/index.ts";
import { jsonOf, type CarrierApi } from "../carrier-api.ts";
import { messageSid, receiptOf } from "./callbacks.ts";

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
export function lookUp(
  api: CarrierApi,
  messagesPath: string,
  message: OutboundMessage,
  { provider_message_id, started_at, signal }: LookupContext,
): Promise<LookupAnswer> {
  const get: Get = (path) => api({ method: "GET", path: `${messagesPath}${path}`, signal });
  return provider_message_id === null
    ? findSimilar(get, message, started_at)
    : findById(get, provider_message_id);
}

/** Reads a path below that of the account's messages. */
type Get = (path: string) => Promise<HttpOutcome>;

async function findById(get: Get, sid: string): Promise<LookupAnswer> {
  if (!messageSid.test(sid)) return { outcome: "unknown" };
  const { data } = messageSchema.safeParse(bodyOf(await get(`/${sid}.json`)));
  return data === undefined ? { outcome: "unknown" } : { outcome: "sent", ...carriedMessage(data) };
}

async function findSimilar(
  get: Get,
  message: OutboundMessage,
  startedAt: number,
): Promise<LookupAnswer> {
  const query = new URLSearchParams({ To: message.to, PageSize: String(pageSize) });
  if (!isMessagingService(message.from)) query.set("From", message.from);
  const { data } = listSchema.safeParse(bodyOf(await get(`.json?${query.toString()}`)));
  return data === undefined ? { outcome: "unknown" } : similarMessages(data, message, startedAt);
}

/** Whether a sender's address is a messaging service, which chooses one of its numbers. */
export const isMessagingService = (from: string): boolean => /^MG[0-9a-fA-F]{32}$/.test(from);

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
