import {
  contactCreated,
  contactResource,
  type ContactRow,
  contactUpdated,
  findSurvivor,
  identities,
  identitiesOfContact,
  type IdentityRow,
  insertContact,
  insertIdentity,
  mostIdentities,
  showContact,
  writeContact,
} from "../contacts/index.ts";
import {
  defaultSenderByChannel,
  senderByAddress,
  senderById,
  type SenderRow,
} from "../senders/index.ts";
import { type DrawId, invalid, iso, TidingsError, ulidOf } from "../kernel/index.ts";
import { mailboxByAddress, webchatSessions } from "./rows.ts";
import { signToken } from "./token.ts";
import { type OpenWebchatSession, openWebchatSessionSchema, type WebchatSession } from "./types.ts";
import type { Call, Command, Services } from "../operations/index.ts";
import { webchatTransportName } from "../ports/index.ts";
import type { Tx } from "../store/index.ts";
import { appendEvent } from "../events/index.ts";

/** Lets a visitor's browser in. Who it is the host says, or it is somebody new. */
export const openWebchatSession: Command<OpenWebchatSession, WebchatSession> = {
  kind: "command",
  name: "webchat.open",
  input: () => openWebchatSessionSchema,
  status: 201,
  async run(tx, input, { scope, services }) {
    const inbox = await inboxFor(tx, input.inbox);
    const { address, contact_id } = await visitor(tx, services, input);
    const mailbox = await tx.get(mailboxByAddress, [address]);
    const session = tx.insert(webchatSessions, {
      id: services.drawId("wcs"),
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
    return { id, token, contact_id, inbox: inbox.address, expires_at: iso(expires_at) };
  },
  onReplay: (session) => ({ ...session, token: null }),
};

/** @throws TidingsError `no_sender` */
async function inboxFor(tx: Tx, address: string | undefined): Promise<SenderRow> {
  const standard =
    address === undefined ? await tx.get(defaultSenderByChannel, ["webchat"]) : undefined;
  const inbox =
    address === undefined
      ? standard?.sender_id && (await tx.get(senderById, [standard.sender_id]))
      : await tx.get(senderByAddress, [address]);
  if (inbox?.transport === webchatTransportName && inbox.channels.includes("webchat")) return inbox;
  const message =
    address === undefined
      ? "This account has no webchat inbox."
      : `${address} is no webchat inbox.`;
  throw new TidingsError("no_sender", message, {
    errors: [{ pointer: "/inbox", code: "no_sender", message }],
  });
}

/**
 * The address that the session speaks for: the contact's, if it has one on webchat, so that it finds its conversation again. Its row is
 * held, so that no merge and no erasure takes it away meanwhile, or written: of two that give it its first address, one finds the other's.
 */
async function visitor(
  tx: Tx,
  services: Services,
  { contact_id, name }: OpenWebchatSession,
): Promise<IdentityRow> {
  const { drawId } = services;
  const address = `visitor:${ulidOf(services.drawId("wcs"))}`;
  const newIdentity = { medium: "webchat", address } as const;
  if (contact_id === undefined) return newVisitor(tx, drawId, services, newIdentity, name ?? null);
  const contact = await findSurvivor(tx, contact_id, { hold: true });
  if (contact === undefined) {
    throw invalid([
      { pointer: "/contact_id", code: "unknown_contact", message: "no such contact" },
    ]);
  }
  const [known] = await tx.list(identitiesOfContact, [contact.id, "webchat"], 1);
  // An erasure looks for sessions and removes this row: one of the two comes to see the other.
  if (known !== undefined) return tx.update(identities, known, {});
  await refuseFull(tx, contact);
  const identity = await insertIdentity(tx, services.secret, {
    ...newIdentity,
    contact_id: contact.id,
  });
  const updated = await showContact(tx, await writeContact(tx, contact, {}), services);
  appendEvent(tx, drawId, contactUpdated, { contact: updated }, { contact_id: contact.id });
  return identity;
}

/** Whoever goes through a contact's addresses goes through so many. */
async function refuseFull(tx: Tx, { id }: ContactRow): Promise<void> {
  const own = await tx.list(identitiesOfContact, [id], mostIdentities);
  if (own.length < mostIdentities) return;
  throw new TidingsError("conflict", `A contact can have at most ${mostIdentities} addresses.`);
}

async function newVisitor(
  tx: Tx,
  drawId: DrawId,
  { secret }: Call["services"],
  identity: Pick<IdentityRow, "medium" | "address">,
  name: string | null,
): Promise<IdentityRow> {
  const contact = insertContact(tx, drawId, { name });
  const contact_id = contact.id;
  const inserted = await insertIdentity(tx, secret, { ...identity, contact_id });
  appendEvent(
    tx,
    drawId,
    contactCreated,
    { contact: contactResource(contact, [inserted], []) },
    { contact_id },
  );
  return inserted;
}
