import {
  contactUpdated,
  createContactWith,
  findSurvivor,
  identities,
  identitiesOfContact,
  identityByAddress,
  insertIdentity,
  refuseTooManyAddresses,
  showContact,
  unknownContact,
  writeContact,
  type IdentityRow,
} from "../../contacts/index.ts";
import { appendEvent } from "../../events/index.ts";
import { invalid, iso, TidingsError, ulidOf } from "../../kernel/index.ts";
import type { Command, Services } from "../../operations/index.ts";
import { webchatTransportName } from "../../ports/index.ts";
import {
  defaultSenderByChannel,
  senderByAddress,
  senderById,
  type SenderRow,
} from "../../senders/index.ts";
import type { Tx } from "../../store/index.ts";
import { mailboxByAddress, webchatSessions } from "../rows.ts";
import {
  openWebchatSessionSchema,
  type OpenWebchatSession,
  type WebchatSession,
} from "./session-types.ts";
import { signReturnKey, signToken, verifyReturnKey } from "./visitor-tokens.ts";

/** Opens a session for the given contact, or for a new contact. */
export const openWebchatSession: Command<OpenWebchatSession, WebchatSession> = {
  kind: "command",
  name: "webchat.open",
  input: () => openWebchatSessionSchema,
  status: 201,
  // Not the session, which may expire before the contact is erased.
  shows: (_input, session) => session?.contact_id ?? null,
  async run(tx, input, { scope, services }) {
    const inbox = await inboxFor(tx, input.inbox);
    const { address, contact_id } = await visitorIdentity(tx, services, input);
    const mailbox = await tx.get(mailboxByAddress, [address]);
    const session = tx.insert(webchatSessions, {
      id: tx.drawId("wcs"),
      address,
      sender_id: inbox.id,
      begins_after: mailbox?.last_number ?? 0,
      proven_number: null,
      recent: [],
      expires_at: tx.now + services.webchatSessionMs,
      created_at: tx.now,
    });
    const { id, expires_at } = session;
    const token = signToken(services.secret, { scope, session_id: id, expires_at });
    const return_key = signReturnKey(services.secret, scope, address);
    return { id, token, contact_id, inbox: inbox.address, expires_at: iso(expires_at), return_key };
  },
  onReplay: (session) => ({ ...session, token: null, return_key: null }),
};

/** @throws TidingsError `no_sender` */
async function inboxFor(tx: Tx, address: string | undefined): Promise<SenderRow> {
  const inbox = await (address === undefined
    ? defaultInbox(tx)
    : tx.get(senderByAddress, [address]));
  // The transport has no other channel, so the sender has this one.
  if (inbox?.transport === webchatTransportName) return inbox;
  const message =
    address === undefined
      ? `This account has no webchat inbox in ${tx.scope.mode} mode. Create a sender with the ` +
        "channel and the transport webchat."
      : `${address} is not a webchat inbox of this account in ${tx.scope.mode} mode.`;
  throw new TidingsError("no_sender", message, {
    errors: [{ pointer: "/inbox", code: "no_sender", message }],
  });
}

async function defaultInbox(tx: Tx): Promise<SenderRow | undefined> {
  const chosen = await tx.get(defaultSenderByChannel, ["webchat"]);
  return chosen && tx.get(senderById, [chosen.sender_id]);
}

/**
 * Returns the address that the session acts for. A contact's existing webchat address is reused, so
 * that the conversation continues. Its row is held or written, so a concurrent merge, erasure or
 * first address conflicts with this transaction.
 */
async function visitorIdentity(
  tx: Tx,
  services: Services,
  { contact_id, name, return_key }: OpenWebchatSession,
): Promise<IdentityRow> {
  if (return_key !== undefined) {
    const known = await returningVisitor(tx, services, return_key);
    if (known !== undefined) return known;
  }
  const address = `visitor:${ulidOf(tx.drawId("wcs"))}`;
  const newIdentity = { medium: "webchat", address } as const;
  if (contact_id === undefined) {
    return createContactWith(tx, services, { name }, newIdentity);
  }
  const contact = await findSurvivor(tx, contact_id, { hold: true });
  if (contact === undefined) throw unknownContact(contact_id);
  const [known] = await tx.list(identitiesOfContact, [contact.id, "webchat"], 1);
  // An erasure reads the sessions and removes this row. It must find the new session.
  if (known !== undefined) return tx.touch(identities, known);
  await refuseTooManyAddresses(tx, contact.id);
  const own = { ...newIdentity, contact_id: contact.id };
  const identity = await insertIdentity(tx, services.secret, own);
  const updated = await showContact(tx, await writeContact(tx, contact, {}), services);
  appendEvent(tx, contactUpdated, { contact: updated }, { contact_id: contact.id });
  return identity;
}

/**
 * Returns the identity of a return key. It is undefined if the contact was erased.
 * @throws TidingsError `validation_failed` when the key is not genuine
 */
async function returningVisitor(
  tx: Tx,
  { secret }: Services,
  return_key: string,
): Promise<IdentityRow | undefined> {
  const address = verifyReturnKey(secret, tx.scope, return_key);
  if (address === undefined) {
    throw invalid([
      {
        pointer: "/return_key",
        code: "invalid_return_key",
        message: "must be the return key of a session of this account and mode",
      },
    ]);
  }
  const known = await tx.get(identityByAddress, ["webchat", address]);
  // An erasure reads the sessions and removes this row. It must find the new session.
  return known === undefined ? undefined : tx.touch(identities, known);
}
