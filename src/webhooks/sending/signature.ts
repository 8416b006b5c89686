import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

/**
 * The input of a Standard Webhooks 1.0.0 signature with the symmetric scheme: HMAC-SHA256 over
 * `id.timestamp.body`.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
interface SignatureInput {
  /** The id of the event. It is the same for each attempt and contains no full stop. */
  readonly id: string;
  /** The time of the attempt in milliseconds since the epoch. The signature uses whole seconds. */
  readonly at: number;
  readonly body: Uint8Array;
}

type SignatureHeaders = Readonly<
  Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>
>;

const prefix = "whsec_";

/** Encodes a secret as text. `bytes` are 24 to 64 random bytes. */
export function secretText(bytes: Uint8Array): string {
  return prefix + Buffer.from(bytes).toString("base64");
}

/**
 * Returns the signing key of a secret. Create the key once for many signatures: signing with raw
 * bytes takes Node three times as long.
 */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(secret.slice(prefix.length), "base64");
}

/**
 * Returns the signature headers of a request. Signs with each key, in the given order. During a
 * rotation there are two keys.
 */
export function signatureHeaders(
  { id, at, body }: SignatureInput,
  keys: readonly KeyObject[],
): SignatureHeaders {
  const timestamp = String(Math.floor(at / 1_000));
  const signatures = keys.map(
    (key) =>
      `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`,
  );
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
