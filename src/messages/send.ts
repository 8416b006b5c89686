import {
  createContactFor,
  findRecipient,
  identities,
  identityByAddress,
  type IdentityRow,
  type Keyword,
  prefetchConsent,
  prefetchRecipient,
  recipientMark,
  recipientSubject,
  stateOf,
} from "../contacts/index.ts";
import {
  assignSequence,
  beginConversation,
  type ConversationRow,
  currentConversation,
  findConversation,
  isActive,
} from "../conversations/index.ts";
import { arm, armNew, rememberJob } from "../queue/index.ts";
import { initialColumns, type MessageRow, messages, outbox } from "./rows.ts";
import { channelOf, plan } from "./rules.ts";
import { segmentColumns } from "./segments.ts";
import { countMessage, patchOf } from "./move.ts";
import {
  type Author,
  type Channel,
  invalid,
  mediumOf,
  millis,
  parse,
  TidingsError,
} from "../kernel/index.ts";
import { type SendMessage, sendMessageSchema } from "./input-types.ts";
import { checkPolicies, decisionOf, type PolicyContext, throwIfDenied } from "../consents/index.ts";
import {
  chooseSender,
  prefetchSender,
  prefetchThrottle,
  rememberSender,
  type SenderRow,
} from "../senders/index.ts";
import {
  authorOf,
  type Call,
  type Command,
  inputSchema,
  type Procedure,
  type Steps,
} from "../operations/index.ts";
import type { Seen } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { firstTransport } from "./choose-route.ts";
import { addWords } from "./search-words.ts";
import { releaseJob, sendJob } from "./send-jobs.ts";
import { messageResource } from "./reads.ts";
import {
  type BatchMessages,
  batchMessagesSchema,
  type BatchResult,
  type BatchResults,
} from "./batch-types.ts";
import type { Message } from "./types.ts";

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
  /** Whether the conversation was created in this transaction, so that its job cannot exist yet. */
  readonly isNewConversation: boolean;
  /** Whether the contact was created in this transaction, so that policies get no contact. */
  readonly isNewContact?: boolean;
  /** Whether the message is an item of a batch. By default it is not. */
  readonly isInBatch?: boolean;
  readonly author: Author;
}

/**
 * Checks the policies, then queues or schedules a message. Any engine may hand it over.
 * @throws TidingsError `validation_failed` if `send_at` is too far ahead, `recipient_opted_out` or
 * `policy_denied` if a policy denies the message
 */
export async function acceptMessage(
  tx: Tx,
  call: PolicyContext & Pick<Call, "idempotency_key">,
  draft: Draft,
  correspondence: Correspondence,
): Promise<Seen<MessageRow>> {
  const { channel, identity, sender, isNewContact = false, author } = correspondence;
  const { contact_id } = identity;
  const { category = "transactional", body, media = [], send_at } = draft;
  const verdicts = await checkPolicies(tx, call, {
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
    contact_id: isNewContact ? null : contact_id,
    at: Math.max(tx.now, send_at === undefined ? 0 : millis(send_at)),
  });
  // A deferral is ignored here. The hand-over applies it.
  throwIfDenied(decisionOf(verdicts));
  return writeMessage(tx, call, draft, correspondence, null);
}

/**
 * Writes a message without a policy check; the hand-over checks it. `keyword` is the contact's
 * keyword that the message answers.
 */
export async function writeMessage(
  tx: Tx,
  { services, idempotency_key }: Pick<Call, "services" | "idempotency_key">,
  draft: Draft,
  correspondence: Correspondence,
  keyword: Keyword | null,
): Promise<Seen<MessageRow>> {
  const { channel, identity, sender, conversation, isNewConversation, author } = correspondence;
  const send_at = draft.send_at === undefined ? null : millis(draft.send_at);
  const ttl = draft.ttl_seconds === undefined ? {} : { ttl: draft.ttl_seconds * 1_000 };
  const planned = plan({ send_at, ...ttl }, tx.now);
  if (planned.decision === "invalid") throw invalid([planned.error]);
  const { state } = planned;

  if (identity.last_sender_id !== sender.id) {
    tx.update(identities, identity, { last_sender_id: sender.id });
  }
  const id = services.drawId("msg");
  const message = tx.insert(messages, {
    ...initialColumns,
    id,
    conversation_id: conversation.id,
    contact_id: identity.contact_id,
    sequence: await assignSequence(tx, conversation, {
      id,
      direction: "outbound",
      // The engine's own texts, such as the answer to a keyword, answer nobody's question.
      role: author.type === "system" ? "neither" : "answers",
      isByReader: author.type === "human" || author.type === "agent",
    }),
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
    // A past `send_at` means now. `patchOf` sets a future one.
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
  addWords(tx, message);
  countMessage(tx, message, null);
  if (state.status === "queued") {
    // This transaction may hand the message over, too.
    prefetchThrottle(tx, sender.address);
    if (isNewConversation) {
      tx.promiseNone(outbox, [conversation.id]);
      armNew(tx, sendJob(message, tx.now));
    } else await arm(tx, sendJob(message, tx.now));
  } else armNew(tx, releaseJob(message, state.send_at));
  return message;
}

/** Queues or schedules a message. Any engine may hand it over. */
export const sendMessage: Command<SendMessage, Message> = {
  kind: "command",
  name: "messages.send",
  input: sendMessageSchema,
  status: 201,
  shows: ({ to, ...draft }, message, { scope, services }) =>
    message?.id ?? recipientMark(services.secret, scope, mediumOf(channelOf(draft)), to),
  storesKey: true,
  prefetch(tx, input, { secret }) {
    const channel = channelOf(input);
    const medium = mediumOf(channel);
    prefetchSender(tx, channel, input.from);
    const isKnown = prefetchRecipient(tx, medium, input.to);
    if (!isKnown && input.to.startsWith("+")) prefetchConsent(tx, secret, medium, input.to);
  },
  run: (tx, input, call) => send(tx, input, call, { isInBatch: false }),
};

/** Sends an item of a batch. It lets other messages of the account go first. */
const sendBatchItem: Command<SendMessage, Message> = {
  ...sendMessage,
  isItem: true,
  run: (tx, input, call) => send(tx, input, call, { isInBatch: true }),
};

async function send(
  tx: Tx,
  input: SendMessage,
  call: Call,
  { isInBatch }: { readonly isInBatch: boolean },
): Promise<Message> {
  const { drawId, secret, transports } = call.services;
  const channel = channelOf(input);
  const medium = mediumOf(channel);
  const known = await findRecipient(tx, medium, input.to);
  const request = {
    channel,
    from: input.from,
    last: known?.last_sender_id ?? null,
    to: known?.address ?? input.to,
  };
  // A new contact has no conversation yet.
  const [sender, current] = await Promise.all([
    chooseSender(tx, request, transports),
    known && findConversation(tx, known),
  ]);
  const identity = known ?? (await createContactFor(tx, drawId, secret, medium, input.to));
  const continues = isActive(current);
  const conversation = continues ? current : await beginConversation(tx, drawId, identity, current);
  rememberRecipient(tx, input.to, identity, conversation, sender);
  const correspondence = {
    channel,
    identity,
    sender,
    conversation,
    isNewConversation: !continues,
    isNewContact: known === undefined,
    isInBatch,
    author: authorOf(call.caller),
  };
  return messageResource(await acceptMessage(tx, call, input, correspondence));
}

/** Lets later messages to the recipient prefetch what they read and write. */
function rememberRecipient(
  tx: Tx,
  to: string,
  { contact_id, medium, address }: IdentityRow,
  { id: conversation_id }: ConversationRow,
  sender: SenderRow,
): void {
  const subject = recipientSubject(tx, medium, to);
  rememberSender(tx, subject, sender);
  tx.remember(subject, () => [
    { index: identityByAddress, key: [medium, address] },
    { index: currentConversation, key: [contact_id, medium] },
    // The new message, and one before it.
    { index: outbox, key: [conversation_id], limit: 2 },
  ]);
  rememberJob(tx, subject, { kind: "send", key: { conversation_id } });
}

/**
 * The number of items in progress at once. They share commits. With more, the account's single
 * messages would wait longer for theirs.
 */
const chunk = 32;

/** Sends each message by itself. An invalid item does not affect the others. */
export const sendBatch: Procedure<BatchMessages, BatchResults> = {
  kind: "procedure",
  name: "messages.batch",
  input: batchMessagesSchema,
  status: 200,
  until: ({ messages }) => Math.max(0, ...messages.map(sendTimeOf)),
  async run(steps, { messages }, call) {
    const canResume = call.idempotency_key !== null;
    const schema = inputSchema(sendBatchItem, call.services.limits);
    const data: BatchResult[] = [];
    for (let start = 0; start < messages.length; start += chunk) {
      const items = messages.slice(start, start + chunk);
      data.push(
        ...(await Promise.all(
          items.map((item, i) => sendItem(steps, schema, item, start + i, canResume)),
        )),
      );
    }
    return { data };
  },
};

/** Returns the send time of an item, or 0. An invalid time is reported when the item is sent. */
function sendTimeOf(item: unknown): number {
  const send_at: unknown =
    typeof item === "object" && item !== null && "send_at" in item ? item.send_at : undefined;
  const time = typeof send_at === "string" ? Date.parse(send_at) : Number.NaN;
  return Number.isNaN(time) ? 0 : Math.min(time, Date.parse("9999-01-01"));
}

/** Whether an error concerns the whole batch, such as a call inside a transaction. */
const isOfBatch = ({ code }: TidingsError): boolean => code === "invalid_option";

/**
 * @throws retryable errors if the request has an idempotency key: a repeated request resumes.
 * Without a key, the caller must learn which items were sent.
 */
async function sendItem(
  steps: Steps,
  schema: ReturnType<typeof sendMessage.input>,
  item: unknown,
  index: number,
  canResume: boolean,
): Promise<BatchResult> {
  try {
    const { value } = await steps.execute(sendBatchItem, parse(schema, item), index);
    return { ok: true, index, message: value };
  } catch (error) {
    if (!(error instanceof TidingsError) || isOfBatch(error) || (canResume && error.retryable)) {
      throw error;
    }
    const { code, status, message: detail, errors } = error;
    return { ok: false, index, code, status, detail, errors: [...errors] };
  }
}
