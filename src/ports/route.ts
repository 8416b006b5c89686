import type { Channel } from "../kernel/index.ts";

/**
 * Chooses the transports of messages. The first route that matches a message and has a transport
 * for its mode and channel applies. A message that matches no route uses its sender's transport.
 */
export interface Route {
  /** The senders of the messages that match: up to 1,000 addresses. Default: all senders. */
  readonly from?: readonly string[] | undefined;
  /** The channels of the messages that match. Default: all channels. */
  readonly channels?: readonly Channel[] | undefined;
  /**
   * The recipients of the messages that match: up to 1,000 prefixes of phone numbers, such as
   * `"+44"` or `"+1415"`. Default: all recipients.
   */
  readonly to?: readonly string[] | undefined;
  /**
   * Up to 5 names of transports, in order of preference. If an attempt certainly sent nothing, the
   * engine tries the next transport immediately, unless the recipient or the message is the reason.
   * After the last transport it starts again with the first, with the usual number and spacing of
   * attempts.
   */
  readonly transports: readonly string[];
  /**
   * Other outcomes after which the engine tries the next transport.
   * - `ambiguous`: the carrier's response was lost, so the message may be sent twice.
   * - `undelivered`: a receipt says that the carrier gave up, and neither the recipient nor the
   *   message is the reason. A later receipt may contradict it.
   * @default []
   */
  readonly fallBackAfter?: readonly ("ambiguous" | "undelivered")[] | undefined;
}
