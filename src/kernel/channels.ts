/** How messages travel, and what consents and conversations belong to. */
import * as z from "zod";

export const channels = ["sms", "mms", "webchat"] as const;
/** How a message travels. */
export type Channel = (typeof channels)[number];
export const channelSchema = z.enum(channels);
export const mediums = ["text", "webchat"] as const;
/** What consents and conversations belong to: `text` (SMS and MMS together) or `webchat`. */
export type Medium = (typeof mediums)[number];
export const mediumSchema = z.enum(mediums);

/** Sms and mms use the same address and share one conversation. */
export function mediumOf(channel: Channel): Medium {
  return channel === "webchat" ? "webchat" : "text";
}
