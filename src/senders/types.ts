/** Senders: the numbers and webchat inboxes from which an account sends, and which receive. */
import * as z from "zod";
import {
  channelSchema,
  distinct,
  ids,
  reference,
  senderAddress,
  timestamp,
  type Channel,
  type SenderId,
} from "../kernel/index.ts";

const channels = distinct(z.array(channelSchema).min(1).max(3), "must not contain a channel twice");
const limitFields = {
  messages_per_second: z.number().min(0.01).max(1_000).nullable().optional(),
  daily_cap: z.int().min(1).max(1_000_000).nullable().optional(),
};

/**
 * An address that an account sends from and receives at: a phone number, a short code, a name or a
 * webchat inbox.
 */
export interface Sender {
  /** The id of the sender. */
  readonly id: SenderId;
  /** The phone number, short code, name or webchat inbox that contacts see. */
  readonly address: string;
  /** The channels that the sender sends on and receives on. Its transport supports them. */
  readonly channels: Channel[];
  /** The name of the sender's transport. A route can choose others for a message. */
  readonly transport: string;
  /** Whether this is the default sender of at least one of its channels. */
  readonly default: boolean;
  /**
   * The channels whose default sender this is. A message uses the default if it names no sender,
   * the contact has none yet, and the channel has no pool. Each channel with a sender has a
   * default.
   */
  readonly default_channels: Channel[];
  /**
   * Whether the sender is in the pools of its channels. New contacts are spread over a pool's
   * senders. A contact keeps its sender.
   */
  readonly pool: boolean;
  /** The most messages to hand over per second. Null for no limit. */
  readonly messages_per_second: number | null;
  /** The most messages to hand over in any 24 hours. Null for no limit. */
  readonly daily_cap: number | null;
  /** When the sender was added. */
  readonly created_at: string;
}

export const senderSchema = z
  .strictObject({
    id: ids.sender,
    address: z.string(),
    channels: z.array(channelSchema),
    transport: z.string(),
    default: z.boolean(),
    default_channels: z.array(channelSchema),
    pool: z.boolean(),
    messages_per_second: z.number().nullable(),
    daily_cap: z.number().nullable(),
    created_at: timestamp,
  })
  .meta({ id: "Sender" });

/** The limits of a sender that an input sets. */
interface SenderLimitsInput {
  /**
   * The most messages to hand over per second: 0.01 to 1,000. Null for no limit. Messages beyond it
   * wait.
   */
  readonly messages_per_second?: number | null | undefined;
  /**
   * The most messages to hand over in any 24 hours: 1 to 1,000,000. Null for no limit. Messages
   * beyond it wait.
   */
  readonly daily_cap?: number | null | undefined;
}

/** A new sender. */
export interface CreateSender extends SenderLimitsInput {
  /**
   * A phone number, short code, name or webchat inbox, up to 64 characters. In live mode, one
   * account can have it for a transport.
   */
  readonly address: string;
  /** The channels that the sender sends on and receives on. Its transport supports them. */
  readonly channels: readonly Channel[];
  /**
   * The name of one of the engine's transports. `webchat` is the built-in one for webchat inboxes.
   */
  readonly transport: string;
  /**
   * `true` makes this the default sender of all its channels. Otherwise it becomes the default only
   * of channels that have no sender yet.
   */
  readonly default?: boolean | undefined;
  /**
   * Whether the sender is in the pools of its channels. New contacts are spread over a pool's
   * senders. A contact keeps its sender. A pool has at most 100 senders.
   * @default false
   */
  readonly pool?: boolean | undefined;
}

export const createSenderSchema = z
  .strictObject({
    address: senderAddress,
    channels,
    transport: reference,
    default: z.boolean().optional(),
    pool: z.boolean().optional().meta({ default: false }),
    ...limitFields,
  })
  .meta({ id: "CreateSender" });

/** Changes to a sender. An absent field keeps its value. */
export interface UpdateSender extends SenderLimitsInput {
  /**
   * The channels that the sender sends on and receives on. Its transport supports them. Replaces
   * all channels of the sender.
   */
  readonly channels?: readonly Channel[] | undefined;
  /**
   * `true` makes this the default sender of all its channels. `false` makes the oldest other sender
   * of each channel the default instead. A channel without another sender keeps this one.
   */
  readonly default?: boolean | undefined;
  /**
   * Whether the sender is in the pools of its channels. New contacts are spread over a pool's
   * senders. A contact keeps its sender.
   */
  readonly pool?: boolean | undefined;
}

export const updateSenderSchema = z
  .strictObject({
    channels: channels.optional(),
    default: z.boolean().optional(),
    pool: z.boolean().optional(),
    ...limitFields,
  })
  .meta({ id: "UpdateSender" });
