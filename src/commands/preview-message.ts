import { channelOf, mediumOf, plan } from "../domain/messages/rules.ts";
import { segmentsOf } from "../domain/messages/segments.ts";
import { type MessagePreview, type PreviewMessage, previewMessageSchema } from "../domain/messages/types.ts";
import { millis } from "../domain/time.ts";
import { invalid, TidingsError } from "../errors.ts";
import type { Command } from "../operation.ts";
import { chooseSender } from "./steps/choose-sender.ts";
import { findRecipient } from "./steps/find-recipient.ts";

/** Tells what would become of a message, and writes nothing. */
export const previewMessage: Command<PreviewMessage, MessagePreview> = {
  kind: "command",
  name: "messages.preview",
  input: previewMessageSchema,
  status: 200,
  async run(tx, input, { scope, services }) {
    const channel = channelOf(input);
    const planned = plan({ send_at: input.send_at === undefined ? null : millis(input.send_at) }, tx.now);
    if (planned.decision === "invalid") throw invalid([planned.error]);
    const identity = await findRecipient(tx, scope, mediumOf(channel), input.to);
    const wish = { channel, from: input.from, last: identity?.last_sender_id ?? null };
    const from = await chooseSender(tx, scope, wish, services.transports).then(
      (sender) => sender.address,
      (error: unknown) => {
        if (error instanceof TidingsError && error.code === "no_sender") return null;
        throw error;
      },
    );
    return {
      channel,
      from,
      to: identity?.address ?? input.to,
      segments: channel === "sms" ? segmentsOf(input.body) : null,
      consent: "allowed",
      quiet_until: null,
      sendable: from !== null,
    };
  },
};
