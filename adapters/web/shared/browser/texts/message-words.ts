/** The words for messages that all pages use. */
import type { Message } from "../../../../../src/index.ts";
import { defineTexts } from "./define-texts.ts";

/** A page adds its own words for the states that its readers know by other names. */
export const messageTexts = {
  channelSms: "SMS",
  channelMms: "MMS",
  channelWebchat: "Webchat",
  statusScheduled: "Scheduled",
  statusQueued: "Queued",
  statusSending: "Sending",
  statusCanceled: "Canceled",
  statusExpired: "Expired",
  statusFailed: "Failed",
  statusSent: "Sent",
  statusDelivered: "Delivered",
  statusRead: "Read",
  statusReceived: "Received",
} as const;

const text = defineTexts(messageTexts);

export const channels = ["sms", "mms", "webchat"] as const;

export const channelName = (channel: Message["channel"]): string =>
  ({ sms: text("channelSms"), mms: text("channelMms"), webchat: text("channelWebchat") })[channel];
