import type { PageQuery } from "../../kernel/index.ts";
import type {
  BatchMessages,
  BatchResults,
  EditMessage,
  ListMessages,
  Message,
  MessagePreview,
  PreviewMessage,
  SendMessage,
  Timeline,
} from "../../messages/index.ts";
import type { CommandOptions, KeyOptions, PagePromise } from "../../operations/index.ts";
import type { CreateSender, Sender, UpdateSender } from "../../senders/index.ts";

/** Messages: send, schedule, change and read them. */
export interface Messages {
  /**
   * Queues or schedules a message. A started engine on the same storage sends it. Resolves when the
   * message is stored.
   * @throws TidingsError `validation_failed`; `no_sender` when no sender of the account fits;
   *   `recipient_opted_out`; `policy_denied`
   */
  send(input: SendMessage, options?: CommandOptions): Promise<Message>;
  /**
   * Sends up to 1,000 messages. Each succeeds or fails separately. With an idempotency key, a
   * repeated call continues an interrupted batch.
   */
  batch(input: BatchMessages, options?: KeyOptions): Promise<BatchResults>;
  /**
   * Returns what `send` would do with this input: the channel, the sender, the segments and each
   * policy's verdict. Sends and stores nothing.
   */
  preview(input: PreviewMessage): Promise<MessagePreview>;
  /**
   * Returns a message.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Message>;
  /**
   * Lists messages, newest first. A filtered page can be empty although more pages follow. A filter
   * by an unknown id gives an empty list.
   */
  list(filters?: ListMessages): PagePromise<Message>;
  /**
   * Returns everything that happened to a message, oldest first: changes of its status, attempts,
   * receipts, look-ups, edits and denials.
   * @throws TidingsError `not_found`
   */
  timeline(id: string): Promise<Timeline>;
  /**
   * Changes the content or the time of a scheduled message. Absent fields keep their value.
   * @throws TidingsError `not_editable` when the message is not scheduled or an attempt may have
   *   sent it; `recipient_opted_out`; `policy_denied`
   */
  edit(id: string, changes: EditMessage, options?: CommandOptions): Promise<Message>;
  /**
   * Cancels a scheduled or queued message. It is not handed over again. If it waited for a retry, a
   * receipt can still show that an earlier attempt succeeded.
   * @throws TidingsError `not_cancelable` when the message has another status
   */
  cancel(id: string, options?: CommandOptions): Promise<Message>;
  /**
   * Permanently removes the text and media of a message, also from its events, webhook deliveries,
   * stored responses and agent runs. Its status and timeline stay. A playbook in progress that may
   * contain the text ends.
   * @throws TidingsError `conflict` while the message waits or is being sent, or while an agent's
   *   run is open that may quote it
   */
  redact(id: string, options?: CommandOptions): Promise<Message>;
}

/** The addresses that the account sends from and receives at. */
export interface Senders {
  /**
   * Adds a sender. The account sends from its address and receives the messages to it.
   * @throws TidingsError `validation_failed` when no transport of that name carries the mode and
   *   the channels; `conflict` when the address is a sender already
   */
  create(input: CreateSender, options?: CommandOptions): Promise<Sender>;
  /** Lists the senders, newest first. */
  list(page?: PageQuery): PagePromise<Sender>;
  /**
   * Changes a sender. Absent fields keep their value.
   * @throws TidingsError `not_found`; `validation_failed` when its transport does not carry the
   *   channels
   */
  update(id: string, changes: UpdateSender, options?: CommandOptions): Promise<Sender>;
  /**
   * Removes a sender. Queued messages from it still go out. New messages to its address belong to
   * no account.
   * @throws TidingsError `not_found`
   */
  remove(id: string, options?: CommandOptions): Promise<void>;
}
