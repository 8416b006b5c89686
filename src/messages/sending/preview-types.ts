import * as z from "zod";
import { policyVerdictSchema, type PolicyVerdict } from "../../consents/index.ts";
import { channelSchema, timestamp, type Channel } from "../../kernel/index.ts";
import { segmentsSchema, type Segments } from "../types.ts";

/** The outcome that sending a message would have. Nothing is sent or stored. */
export interface MessagePreview {
  /** The channel that would carry the message. */
  readonly channel: Channel;
  /** The address of the sender that would be used. Null if there is none. */
  readonly from: string | null;
  /**
   * The addresses of the account's senders that can send on the channel: the oldest 50. The message
   * can name one of them as `from`.
   */
  readonly senders: string[];
  /** The address that the message would be sent to. */
  readonly to: string;
  /** The parts that the SMS would be billed as. Null unless the channel is `sms`. */
  readonly segments: Segments | null;
  /** `opted_out` if the recipient has opted out of messages from the sender. */
  readonly consent: "allowed" | "opted_out";
  /** When the quiet hours end that would delay the message. Null if none would. */
  readonly quiet_until: string | null;
  /** True if there is a sender and no policy denies the message. */
  readonly sendable: boolean;
  /**
   * The verdict of each policy at the time when the message would be sent. Empty if there is no
   * sender.
   */
  readonly verdicts: PolicyVerdict[];
}

export const messagePreviewSchema = z
  .strictObject({
    channel: channelSchema,
    from: z.string().nullable(),
    senders: z.array(z.string()),
    to: z.string(),
    segments: segmentsSchema.nullable(),
    consent: z.enum(["allowed", "opted_out"]),
    quiet_until: timestamp.nullable(),
    sendable: z.boolean(),
    verdicts: z.array(policyVerdictSchema),
  })
  .meta({ id: "MessagePreview" });
