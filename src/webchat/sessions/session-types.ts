/** Sessions of visitors, and the options of webchat. */
import * as z from "zod";
import {
  ids,
  isObjectGiven,
  name,
  reference,
  senderAddress,
  timestamp,
  type ContactId,
  type WebchatSessionId,
} from "../../kernel/index.ts";

/** A new session for a visitor. */
export interface OpenWebchatSession {
  /** The visitor's contact, if you know it. By default a new contact is created. */
  readonly contact_id?: string | undefined;
  /** The name of a new contact, up to 200 characters. It cannot be combined with `contact_id`. */
  readonly name?: string | undefined;
  /**
   * The `return_key` of an earlier session. The visitor's conversation continues, unless its
   * contact was erased meanwhile. It cannot be combined with `contact_id` or `name`.
   */
  readonly return_key?: string | undefined;
  /**
   * The address of the sender that the visitor writes to. The default is the account's default
   * webchat sender.
   */
  readonly inbox?: string | undefined;
}

export const openWebchatSessionSchema = z
  .strictObject({
    contact_id: reference.optional(),
    name: name(200).optional(),
    return_key: reference.optional(),
    inbox: senderAddress.optional(),
  })
  .refine(({ contact_id, name }) => contact_id === undefined || name === undefined, {
    path: ["name"],
    error: "names a new contact, so it cannot be combined with contact_id",
    when: isObjectGiven,
  })
  .refine(
    ({ return_key, contact_id, name }) =>
      return_key === undefined || (contact_id === undefined && name === undefined),
    {
      path: ["return_key"],
      error: "names the visitor, so it cannot be combined with contact_id or name",
      when: isObjectGiven,
    },
  )
  .meta({ id: "OpenWebchatSession" });

/** A visitor's permission to chat, with an expiry. */
export interface WebchatSession {
  /** The id of the session. The visitor's endpoints have it in their path. */
  readonly id: WebchatSessionId;
  /**
   * Gives the visitor's browser access to this session until it expires. Returned only once: a
   * replay returns null.
   */
  readonly token: string | null;
  /** The visitor's contact. */
  readonly contact_id: ContactId;
  /** The address of the sender that the visitor writes to. */
  readonly inbox: string;
  /** When the session ends. */
  readonly expires_at: string;
  /**
   * Opens later sessions for the same visitor. It does not expire. Keep it where only your server
   * can read it, such as in an `HttpOnly` cookie. Returned only once: a replay returns null.
   */
  readonly return_key: string | null;
}

export const webchatSessionSchema = z
  .strictObject({
    id: ids.webchatSession,
    token: z.string().nullable(),
    contact_id: ids.contact,
    inbox: z.string(),
    expires_at: timestamp,
    return_key: z.string().nullable(),
  })
  .meta({ id: "WebchatSession" });

/** Options of webchat. */
export interface WebchatOptions {
  /**
   * Origins of the pages that may use visitor sessions, such as `https://shop.example`. At most
   * 100.
   * @default []
   */
  readonly origins?: readonly string[] | undefined;
  /**
   * How long a visitor's session lasts, 1 to 720 hours.
   * @default 24
   */
  readonly sessionHours?: number | undefined;
}
