import { z } from "zod";
import type { HttpOutcome } from "../../../src/ports/http-client.ts";
import type {
  AttemptMade,
  CarriedMessage,
  LookupAnswer,
  OutboundMessage,
} from "../../../src/ports/transport.ts";
import { type CarrierApi, jsonOf } from "../carrier-api.ts";
import { receiptOf, sidPattern } from "./callbacks.ts";

/** Of a listing, newest first; what stands further back is not looked for. */
const pageSize = 20;
/** Twilio's times are whole seconds by its clock, before an attempt's beginning and after: what it took then may be the attempt's. */
const window = { before: 5_000, after: 60_000 };

const messageSchema = z.object({
  sid: z.string().regex(sidPattern),
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

/** A message whose id is known is asked for; else those to its recipient are looked through for one like it. */
export async function lookUp(
  api: CarrierApi,
  messagesPath: string,
  message: OutboundMessage,
  attempt: AttemptMade,
): Promise<LookupAnswer> {
  const { provider_message_id } = attempt;
  if (provider_message_id !== null) {
    if (!sidPattern.test(provider_message_id)) return { outcome: "unknown" };
    const path = `${messagesPath}/${provider_message_id}.json`;
    const found = messageSchema.safeParse(bodyOf(await api({ method: "GET", path })));
    return found.success ? { outcome: "sent", ...carried(found.data) } : { outcome: "unknown" };
  }
  const query = new URLSearchParams({ To: message.to, PageSize: String(pageSize) });
  if (!isService(message.from)) query.set("From", message.from);
  const list = listSchema.safeParse(
    bodyOf(await api({ method: "GET", path: `${messagesPath}.json?${query.toString()}` })),
  );
  return list.success ? alike(list.data, message, attempt.started_at) : { outcome: "unknown" };
}

/** A messaging service, which chooses among its numbers. */
export const isService = (from: string): boolean => /^MG[0-9a-fA-F]{32}$/.test(from);

/** That none is there proves nothing: it may be on its way into the listing. */
function alike(
  { messages, next_page_uri }: z.infer<typeof listSchema>,
  message: OutboundMessage,
  startedAt: number,
): LookupAnswer {
  const rows = messages.map((each) => listedSchema.safeParse(each));
  if (rows.some(({ success }) => !success)) return { outcome: "unknown" };
  const listed = rows.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const from = startedAt - window.before;
  const oldest = Math.min(...listed.map(createdAt));
  // Those behind the page may be alike too, and then it is not clear which is it.
  if (next_page_uri && !(oldest < from)) return { outcome: "unknown" };
  const within = listed.filter(
    (each) => createdAt(each) >= from && createdAt(each) <= startedAt + window.after,
  );
  return {
    outcome: "alike",
    messages: within.filter((each) => isLike(each, message)).map(carried),
  };
}

function isLike(listed: Listed, { from, to, body, media }: OutboundMessage): boolean {
  const sender = isService(from) ? listed.messaging_service_sid : listed.from;
  const isSame = sender === from && listed.to === to && (listed.body ?? "") === body;
  return isSame && listed.num_media === media.length && listed.direction.startsWith("outbound");
}

const createdAt = ({ date_created }: Pick<Listed, "date_created">): number =>
  Date.parse(date_created);

function carried({
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
