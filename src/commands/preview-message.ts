import { contactById, identitiesOfContact, identityByAddress, type IdentityRow } from "../domain/contacts/rows.ts";
import type { Medium } from "../fields.ts";
import { channelOf, mediumOf, plan } from "../domain/messages/rules.ts";
import { segmentsOf } from "../domain/messages/segments.ts";
import { type MessagePreview, type PreviewMessage, previewMessageSchema } from "../domain/messages/types.ts";
import { millis } from "../domain/time.ts";
import { invalid, TidingsError } from "../errors.ts";
import type { Command } from "../operation.ts";
import type { Scope } from "../scope.ts";
import type { Tx } from "../transactions/transaction.ts";
import { chooseSender } from "./steps/choose-sender.ts";

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
    const identity = await knownAddress(tx, scope, mediumOf(channel), input.to);
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

async function knownAddress(tx: Tx, scope: Scope, medium: Medium, to: string): Promise<IdentityRow | undefined> {
  const { account_id, mode } = scope;
  if (to.startsWith("+")) return tx.get(identityByAddress, [account_id, mode, medium, to]);
  const contact = await tx.get(contactById, [account_id, mode, to]);
  const [identity] = contact === undefined ? [] : await tx.list(identitiesOfContact, [contact.id, medium], 1);
  if (identity === undefined) {
    throw invalid([{ pointer: "/to", code: "unknown_contact", message: "No such contact with an address on this channel." }]);
  }
  return identity;
}
