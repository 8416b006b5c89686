import { identities, type IdentityRow, type Keyword, stateOf } from "../contacts/index.ts";
import { type ConversationRow, takePlace } from "../conversations/index.ts";
import { arm, armNew } from "../queue/index.ts";
import { type MessageRow, messages, untouched } from "./rows.ts";
import { plan } from "./rules.ts";
import { segmentsOf } from "./segments.ts";
import { patchOf } from "./state.ts";
import { type Author, type Channel, invalid, millis } from "../kernel/index.ts";
import type { SendMessage } from "./types.ts";
import { judgeMessage, type Judging, refuseDenied, ruling } from "../consents/index.ts";
import type { SenderRow } from "../senders/index.ts";
import type { Call } from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { countMessage } from "./count.ts";
import { firstTransport } from "./choose-route.ts";
import { releaseJob, sendJob } from "./send-jobs.ts";

/** What is to be sent: as much of a send as others who write have too. */
export type Draft = Pick<
  SendMessage,
  "body" | "media" | "send_at" | "ttl_seconds" | "category" | "metadata"
>;

/** Who writes to whom, and in which conversation. */
export interface Correspondence {
  readonly channel: Channel;
  readonly identity: Seen<IdentityRow>;
  readonly sender: SenderRow;
  /** An active one. */
  readonly conversation: Seen<ConversationRow>;
  /** The conversation was begun in this transaction: nobody can have armed its job. */
  readonly isNew: boolean;
  /** So was the contact: nothing is known of it. */
  readonly isMet?: boolean;
  readonly author: Author;
}

/**
 * Accepts a message, unless a policy denies it: it is queued, or scheduled, and will be handed over by whichever engine gets to it.
 * @throws TidingsError `validation_failed` when it is to be sent too far ahead, `recipient_opted_out`, `policy_denied`
 */
export async function acceptMessage(
  tx: Tx,
  call: Judging & Pick<Call, "idempotency_key">,
  draft: Draft,
  correspondence: Correspondence,
): Promise<Seen<MessageRow>> {
  const { channel, identity, sender, isMet = false, author } = correspondence;
  const { contact_id } = identity;
  const { category = "transactional", body, media = [], send_at } = draft;
  const opinions = await judgeMessage(tx, call, {
    message: {
      id: null,
      channel,
      category,
      from: sender.address,
      to: identity.address,
      body,
      media,
      author: {
        type: author.type,
        id: author.id ?? null,
      },
    },
    confirmsOptOut: false,
    consent: stateOf(identity),
    contact_id: isMet ? null : contact_id,
    at: Math.max(tx.now, send_at === undefined ? 0 : millis(send_at)),
  });
  refuseDenied(ruling(opinions));
  return writeMessage(tx, call, draft, correspondence, null);
}

/** Writes a message that nobody judges before its hand-over. `keyword` is the contact's that it answers. */
export async function writeMessage(
  tx: Tx,
  { services, idempotency_key }: Pick<Call, "services" | "idempotency_key">,
  draft: Draft,
  { channel, identity, sender, conversation, isNew, author }: Correspondence,
  keyword: Keyword | null,
): Promise<Seen<MessageRow>> {
  const send_at = draft.send_at === undefined ? null : millis(draft.send_at);
  const ttl = draft.ttl_seconds === undefined ? {} : { ttl: draft.ttl_seconds * 1_000 };
  const planned = plan({ send_at, ...ttl }, tx.now);
  if (planned.decision === "invalid") throw invalid([planned.error]);
  const { state } = planned;

  if (identity.last_sender_id !== sender.id) {
    tx.update(identities, identity, { last_sender_id: sender.id });
  }
  const id = services.drawId("msg");
  const segments = channel === "sms" ? segmentsOf(draft.body) : null;
  const message = tx.insert(messages, {
    ...untouched,
    id,
    conversation_id: conversation.id,
    contact_id: identity.contact_id,
    sequence: await takePlace(tx, conversation, id, "outbound"),
    direction: "outbound",
    channel,
    status: state.status,
    from: sender.address,
    to: identity.address,
    body: draft.body,
    media: draft.media ?? [],
    author_type: author.type,
    author_id: author.id ?? null,
    category: draft.category ?? "transactional",
    segments: segments?.count ?? null,
    encoding: segments?.encoding ?? null,
    // A time that has passed means now; one that is to come is part of the state.
    send_at: null,
    expires_at: state.expires_at,
    transport: firstTransport(
      services,
      { mode: tx.scope.mode, channel, from: sender.address, to: identity.address },
      sender.transport,
    ),
    metadata: draft.metadata ?? {},
    idempotency_key,
    created_at: tx.now,
    updated_at: tx.now,
    keyword,
    ...patchOf(state),
  });
  countMessage(tx, message);
  if (state.status !== "queued") armNew(tx, releaseJob(message, state.send_at));
  else if (isNew) armNew(tx, sendJob(message, tx.now));
  else await arm(tx, sendJob(message, tx.now));
  return message;
}
