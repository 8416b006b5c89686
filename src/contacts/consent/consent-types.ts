/** Consents, as the API shows and takes them. */
import * as z from "zod";
import { mediumSchema, text, timestamp, type Medium } from "../../kernel/index.ts";

/** What a change of consent covers: `text` is SMS and MMS, `all` is every medium. */
export type ConsentMedium = Medium | "all";

export const consentMediumSchema = z.enum(["text", "webchat", "all"]);

/** The consent of an address. `unknown` means that it was neither given nor withdrawn. */
export type ConsentStatus = "opted_in" | "opted_out" | "unknown";

export const consentStatusSchema = z.enum(["opted_in", "opted_out", "unknown"]);

/**
 * Where a change of consent came from. `keyword`: a message such as STOP. `api`: a call of
 * `contacts.setConsent`. `import`: an import of contacts. `carrier`: the carrier refused a message
 * because of an opt-out.
 */
export type ConsentSource = "keyword" | "api" | "import" | "carrier";

export const consentSourceSchema = z.enum(["keyword", "api", "import", "carrier"]);

/** The request that a keyword makes. */
export type Keyword = "opt_out" | "opt_in" | "help";

/** Fields of a change of consent, in its evidence and in its event. */
export const consentChangeFields = {
  source: consentSourceSchema,
  sender: z.string().nullable(),
};

/** One recorded change of a consent. */
export interface ConsentEvidence {
  /** What the change made the consent. */
  readonly status: "opted_in" | "opted_out";
  /**
   * Where the change came from. `keyword`: a message such as STOP. `api`: a call of
   * `contacts.setConsent`. `import`: an import of contacts. `carrier`: the carrier refused a
   * message because of an opt-out.
   */
  readonly source: ConsentSource;
  /** The address of the sender that the change applies to. Null means all senders. */
  readonly sender: string | null;
  /**
   * The contact's message with the keyword, or the message that the carrier refused. Null for other
   * sources.
   */
  readonly message_id: string | null;
  /**
   * For `api` and `import`, the text that you gave. For `carrier`, the carrier's error code. For
   * `keyword`, `near match` if the message only resembled a keyword, otherwise null. Removed when
   * the contact gives up the address.
   */
  readonly detail: string | null;
  /** When the engine recorded the change. */
  readonly at: string;
}

export const consentEvidenceSchema = z
  .strictObject({
    status: z.enum(["opted_in", "opted_out"]),
    ...consentChangeFields,
    message_id: z.string().nullable(),
    detail: z.string().nullable(),
    at: timestamp,
  })
  .meta({ interface: "ConsentEvidence" });

/** The consent of an address, with its evidence, newest first. */
export interface Consent {
  /** The medium of the address. `text` is SMS and MMS. */
  readonly medium: Medium;
  /** The contact's phone number or webchat address. */
  readonly address: string;
  /**
   * The consent to all senders that neither list names. `unknown` means that it was neither given
   * nor withdrawn.
   */
  readonly status: ConsentStatus;
  /**
   * The addresses of senders that the contact opted out of individually. They override `status`.
   */
  readonly opted_out_of: string[];
  /** The addresses of senders that the contact opted in to individually. They override `status`. */
  readonly opted_in_to: string[];
  /**
   * What changed the consent, newest first, at most 50 changes. The response to a change has only
   * that change.
   */
  readonly evidence: ConsentEvidence[];
  /** When the consent was last written. Null if it never was. */
  readonly updated_at: string | null;
}

export const consentSchema = z
  .strictObject({
    medium: mediumSchema,
    address: z.string(),
    status: consentStatusSchema,
    opted_out_of: z.array(z.string()),
    opted_in_to: z.array(z.string()),
    evidence: z.array(consentEvidenceSchema),
    updated_at: timestamp.nullable(),
  })
  .meta({ id: "Consent" });

/** The consents of a contact's addresses. */
export interface Consents {
  /** The consent of each address of the contact. */
  readonly data: Consent[];
}

export const consentsSchema = z
  .strictObject({ data: z.array(consentSchema) })
  .meta({ id: "Consents" });

/** A change of the consent of a contact's addresses. */
export interface SetConsent {
  /** The new consent of the addresses, to all senders. */
  readonly status: "opted_in" | "opted_out";
  /**
   * Where the consent comes from, up to 500 characters. It is kept as evidence while the contact
   * has the address.
   */
  readonly detail?: string | undefined;
}

export const setConsentSchema = z
  .strictObject({
    status: z.enum(["opted_in", "opted_out"]),
    detail: text(500).optional(),
  })
  .meta({ id: "SetConsent" });
