import type { EventType, ListEvents, StreamEvents } from "../../events/index.ts";
import type { PageQuery } from "../../kernel/index.ts";
import type {
  CommandOptions,
  PagePromise,
  StreamOptions,
  TxOptions,
  WithSecrets,
} from "../../operations/index.ts";
import type {
  CreateWebhook,
  Delivery,
  DeliveryWithAttempts,
  DeliveryWithBody,
  Event,
  ListDeliveries,
  RecoverWebhook,
  RotateWebhookSecret,
  TestWebhook,
  UpdateWebhook,
  Webhook,
  WebhookWithSecret,
} from "../../webhooks/index.ts";

/** The events of the account in this mode, for as long as the engine keeps them. */
export interface Events {
  /**
   * Returns an event.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Event>;
  /** Lists events, newest first. A filtered page can be empty although more pages follow. */
  list<T extends EventType = EventType>(
    filters?: ListEvents & {
      /** Only events of this type. */
      readonly type?: T | undefined;
    },
  ): PagePromise<Event<T>>;
  /**
   * Opens a stream of events in commit order, without gaps: those after `last_event_id`, or new
   * ones. Resolves when the stream is open, so it yields every event that is committed later.
   * Events are read as fast as your loop takes them. The stream ends when the loop is left, when
   * `options.signal` aborts, or when the engine stops.
   * @throws TidingsError `validation_failed` when the event `last_event_id` is no longer kept or
   *   older than `eventRetentionDays`
   */
  stream<T extends EventType = EventType>(
    input?: StreamEvents & {
      /** Only events of these types. All types by default. */
      readonly types?: readonly T[] | undefined;
    },
    options?: StreamOptions,
  ): Promise<AsyncIterable<Event<T>>>;
}

/** Endpoints that the engine posts events to, and the deliveries to them. */
export interface Webhooks {
  /**
   * Creates a webhook. Only this call returns its secret.
   * @throws TidingsError `not_configured` when the engine has no option `http`
   */
  create(
    input: CreateWebhook,
    options?: TxOptions,
  ): Promise<WithSecrets<WebhookWithSecret, "secret">>;
  /**
   * Creates a webhook once. A replay returns null instead of the secret.
   * @throws TidingsError `not_configured` when the engine has no option `http`
   */
  create(input: CreateWebhook, options?: CommandOptions): Promise<WebhookWithSecret>;
  /**
   * Returns a webhook, without its secret.
   * @throws TidingsError `not_found`
   */
  get(id: string): Promise<Webhook>;
  /** Lists webhooks, newest first. */
  list(page?: PageQuery): PagePromise<Webhook>;
  /**
   * Changes, pauses or enables a webhook. Absent fields keep their value. The deliveries of a
   * webhook that is paused or disabled are kept and sent when it is enabled.
   * @throws TidingsError `not_found`
   */
  update(id: string, changes: UpdateWebhook, options?: CommandOptions): Promise<Webhook>;
  /** Removes the webhook. Its deliveries are removed in the background. */
  remove(id: string, options?: CommandOptions): Promise<void>;
  /**
   * Gives the webhook a new secret, which only this call returns. During the grace time the old
   * secret signs too.
   */
  rotateSecret(
    id: string,
    input?: RotateWebhookSecret,
    options?: TxOptions,
  ): Promise<WithSecrets<WebhookWithSecret, "secret">>;
  /** Rotates the secret once. A replay returns null instead of the secret. */
  rotateSecret(
    id: string,
    input?: RotateWebhookSecret,
    options?: CommandOptions,
  ): Promise<WebhookWithSecret>;
  /** Sends one sample event now, whatever the webhook's status and ordering. */
  test(id: string, input?: TestWebhook, options?: CommandOptions): Promise<Delivery>;
  /**
   * Lists the deliveries of the webhook, newest first, each with its latest 5 attempts. A filtered
   * page can be empty although more pages follow.
   */
  deliveries(id: string, filters?: ListDeliveries): PagePromise<DeliveryWithAttempts>;
  /**
   * Returns a delivery with its body and all attempts.
   * @throws TidingsError `not_found`
   */
  delivery(id: string, deliveryId: string): Promise<DeliveryWithBody>;
  /**
   * Attempts the delivery once more, whatever its status. With `fifo` ordering, the attempt waits
   * until the deliveries that are pending now have ended, unless they wait for this one.
   * @throws TidingsError `conflict` when the content was erased, or after 100 attempts
   */
  redeliver(id: string, deliveryId: string, options?: CommandOptions): Promise<Delivery>;
  /**
   * Makes one more attempt for each `failed` delivery that was created at or after `since`. The
   * work continues after the call resolves. A second call during that work attempts none twice,
   * unless its `since` is earlier.
   */
  recover(id: string, input: RecoverWebhook, options?: CommandOptions): Promise<Webhook>;
}
