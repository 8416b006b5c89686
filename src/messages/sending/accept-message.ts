import {
  checkPolicies,
  decisionOf,
  throwIfDenied,
  type PolicyContext,
} from "../../consents/index.ts";
import { consentOf, setLastSender, type IdentityRow, type Keyword } from "../../contacts/index.ts";
import { updateForMessage, type ConversationRow } from "../../conversations/index.ts";
import { invalid, millis, type Author, type Channel } from "../../kernel/index.ts";
import type { Call } from "../../operations/index.ts";
import type { Seen } from "../../ports/index.ts";
import { arm } from "../../queue/index.ts";
import { throttleByAddress, type SenderRow } from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import { countMessage } from "../count-message.ts";
import { rememberNextAttempt } from "../hand-over/begin-attempt.ts";
import type { SendMessage } from "../input-types.ts";
import { releaseJob, sendJob } from "../job-orders.ts";
import { firstTransport } from "../routes/choose-route.ts";
import { initialColumns, messages, type MessageRow } from "../rows.ts";
import { plan, type Queued, type Scheduled } from "../rules.ts";
import { addWords } from "../search/search-words.ts";
import { segmentColumns } from "../segments.ts";
import { stateColumns } from "../stored-state.ts";

/** The fields of `SendMessage` that every author of a message can set. */
type Draft = Pick<
  SendMessage,
  "body" | "media" | "send_at" | "ttl_seconds" | "category" | "metadata"
>;

/** The sender, recipient, author and conversation of a message. */
export interface Correspondence {
  readonly channel: Channel;
  readonly identity: Seen<IdentityRow>;
  readonly sender: SenderRow;
  /** Must be active. */
  readonly conversation: Seen<ConversationRow>;
  /** Whether the contact was created in this transaction, so that policies get no contact. */
  readonly isNewContact?: boolean;
  /** Whether the message is an item of a batch. By default it is not. */
  readonly isInBatch?: boolean;
  readonly author: Author;
}

/** What accepting a message uses of a call. */
export type AcceptContext = PolicyContext & Pick<Call, "idempotency_key">;

/**
 * Checks the policies, then queues or schedules a message. Any engine may hand it over.
 * @throws TidingsError `validation_failed` if `send_at` is too far ahead, `recipient_opted_out` or
 * `policy_denied` if a policy denies the message
 */
export async function acceptMessage(
  tx: Tx,
  call: AcceptContext,
  draft: Draft,
  correspondence: Correspondence,
): Promise<Seen<MessageRow>> {
  const { channel, identity, sender, isNewContact = false, author } = correspondence;
  const { contact_id } = identity;
  const { category = "transactional", body, media = [], metadata = {}, send_at } = draft;
  const verdicts = await checkPolicies(tx, call, {
    message: {
      id: null,
      channel,
      category,
      from: sender.address,
      to: identity.address,
      body,
      media,
      metadata,
      author: {
        type: author.type,
        id: author.id ?? null,
      },
    },
    confirmsOptOut: false,
    consent: consentOf(identity),
    contact_id: isNewContact ? null : contact_id,
    at: Math.max(tx.now, send_at === undefined ? 0 : millis(send_at)),
  });
  const decision = decisionOf(verdicts);
  throwIfDenied(decision);
  // The hand-over applies the deferral.
  const deferred = decision.verdict === "defer" ? true : null;
  return writeMessage(tx, call, draft, correspondence, { deferred });
}

/** What `writeMessage` cannot see in a draft. */
interface WriteOptions {
  /** The contact's keyword that the message answers. By default null: it answers none. */
  readonly keyword?: Keyword | null;
  /** True if a policy is about to defer the message. By default null: none is. */
  readonly deferred?: true | null;
}

/** Writes a message without a policy check; the hand-over checks it. */
export async function writeMessage(
  tx: Tx,
  { services, idempotency_key }: Pick<Call, "services" | "idempotency_key">,
  draft: Draft,
  correspondence: Correspondence,
  { keyword = null, deferred = null }: WriteOptions = {},
): Promise<Seen<MessageRow>> {
  const { channel, identity, sender, conversation, author } = correspondence;
  const state = firstState(draft, tx.now);
  const isForLater = state.status === "scheduled" || deferred === true;
  setLastSender(tx, identity, sender, { onlyIfNone: keyword === "opt_out" || isForLater });
  const id = tx.drawId("msg");
  const message = tx.insert(messages, {
    ...initialColumns,
    id,
    conversation_id: conversation.id,
    contact_id: identity.contact_id,
    ...(await updateForMessage(tx, conversation, {
      id,
      direction: "outbound",
      role: roleOf(author, isForLater),
      isByReader: author.type === "human" || author.type === "agent",
      // What a policy is about to defer leaves its place when that happens.
      isForLater: state.status === "scheduled",
    })),
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
    in_batch: correspondence.isInBatch ?? false,
    ...segmentColumns(channel, draft.body),
    // A past `send_at` means now. `stateColumns` sets a future one.
    send_at: null,
    deferred,
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
    ...stateColumns(state),
  });
  addWords(tx, message);
  countMessage(tx, message, null);
  if (state.status === "scheduled") await arm(tx, releaseJob(message, state.send_at));
  else await queueMessage(tx, message);
  return message;
}

/**
 * Whether a message answers what the contact has asked. The engine's own texts, such as the answer
 * to a keyword, answer nobody's question. Neither does what a program sends for later: it may be
 * canceled, or about something else. A person who plans a message has read the question.
 */
function roleOf({ type }: Author, isForLater: boolean): "answers" | "neither" {
  return type === "system" || (type === "api" && isForLater) ? "neither" : "answers";
}

/** Arms the job that hands the message over. This transaction may do that, too. */
function queueMessage(tx: Tx, message: MessageRow): Promise<void> {
  tx.prefetch(() => [{ index: throttleByAddress, key: [message.from] }]);
  rememberNextAttempt(tx, message);
  return arm(tx, sendJob(message, tx.now));
}

/**
 * Returns the first state of a message.
 * @throws TidingsError `validation_failed` if `send_at` is too far ahead
 */
export function firstState(
  { send_at, ttl_seconds }: Pick<Draft, "send_at" | "ttl_seconds">,
  now: number,
): Scheduled | Queued {
  const time = send_at === undefined ? null : millis(send_at);
  const ttl = ttl_seconds === undefined ? {} : { ttl: ttl_seconds * 1_000 };
  const planned = plan({ send_at: time, ...ttl }, now);
  if (planned.decision === "invalid") throw invalid([planned.error]);
  return planned.state;
}
