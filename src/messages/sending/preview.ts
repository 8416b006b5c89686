import { checkPolicies, decisionOf, toPolicyVerdict } from "../../consents/index.ts";
import { consentFor, findAddressee, findRecipient, lastSenderOf } from "../../contacts/index.ts";
import { iso, mediumOf, TidingsError } from "../../kernel/index.ts";
import { authorOf, showsNothing, type Command, type Services } from "../../operations/index.ts";
import { chooseSender, usableSenders, type SenderRequest } from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import { previewMessageSchema, type PreviewMessage } from "../input-types.ts";
import { channelOf } from "../rules.ts";
import { segmentsOf } from "../segments.ts";
import { firstState } from "./accept-message.ts";
import type { MessagePreview } from "./preview-types.ts";

const maxSenders = 50;

/** Returns the outcome that sending a message would have. Writes nothing. */
export const previewMessage: Command<PreviewMessage, MessagePreview> = {
  kind: "command",
  name: "messages.preview",
  input: previewMessageSchema,
  status: 200,
  shows: showsNothing,
  takesNoKey: true,
  async run(tx, input, call) {
    const { services } = call;
    const channel = channelOf(input);
    const state = firstState(input, tx.now);
    const medium = mediumOf(channel);
    const identity = await findRecipient(tx, medium, input.to);
    const to = identity?.address ?? input.to;
    const request = { channel, from: input.from, known: [lastSenderOf(identity)], to };
    const from = await chosenAddress(tx, services, request);
    const senders = await usableSenders(tx, services, channel, maxSenders);
    const segments = channel === "sms" ? segmentsOf(input.body) : null;
    const addressee = await findAddressee(tx, services.secret, medium, to);
    const fields = { channel, from, senders, to, segments };
    if (from === null) {
      const consent = addressee.status === "opted_out" ? "opted_out" : "allowed";
      return { ...fields, consent, quiet_until: null, sendable: false, verdicts: [] };
    }
    const { category = "transactional", body, media = [], metadata = {} } = input;
    const { type, id = null } = authorOf(call.caller);
    const author = { type, id };
    const verdicts = await checkPolicies(tx, call, {
      message: { id: null, channel, category, from, to, author, body, media, metadata },
      confirmsOptOut: false,
      consent: addressee,
      contact_id: addressee.contact_id,
      at: state.status === "scheduled" ? state.send_at : tx.now,
    });
    const quiet = verdicts.find(({ policy }) => policy === "quiet_hours");
    return {
      ...fields,
      consent: consentFor(addressee, from) === "opted_out" ? "opted_out" : "allowed",
      quiet_until: quiet?.verdict === "defer" ? iso(quiet.until) : null,
      sendable: decisionOf(verdicts).verdict !== "deny",
      verdicts: verdicts.map(toPolicyVerdict),
    };
  },
};

/** Returns the address that a message would come from. Null if no sender can send it. */
async function chosenAddress(
  tx: Tx,
  services: Services,
  request: SenderRequest,
): Promise<string | null> {
  try {
    return (await chooseSender(tx, services, request)).address;
  } catch (error) {
    if (error instanceof TidingsError && error.code === "no_sender") return null;
    throw error;
  }
}
