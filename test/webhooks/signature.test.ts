import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { secretText, signatureHeaders, signingKey } from "../../src/webhooks/sending/signature.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const secret = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(secretText);
const id = fc
  .string({
    unit: fc.constantFrom(...Array.from("0123456789ABCDEFGHJKMNPQRSTVWXYZ")),
    minLength: 26,
    maxLength: 26,
  })
  .map((ulid) => `evt_${ulid}`);
const body = fc.json();

/** Verifies like a receiver. The package always uses the current time. */
const verify = (with_: string, text: string, headers: Record<string, string>): unknown =>
  new Webhook(with_).verify(text, headers);

describe("the signature", () => {
  // The example of the reference implementations: libraries/go/webhook_symmetric_test.go and
  // others.
  test("equals that of the specification's reference implementations", () => {
    const headers = signatureHeaders(
      {
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
        at: 1_614_265_330_999,
        body: bytes('{"test": 2432232314}'),
      },
      [signingKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
    );
    expect(headers).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  test("is verified by the public package with each signing secret, and with no other", () => {
    fc.assert(
      fc.property(
        id,
        body,
        fc.uniqueArray(secret, { minLength: 1, maxLength: 3 }),
        secret,
        (event, text, secrets, other) => {
          fc.pre(!secrets.includes(other));
          const keys = secrets.map(signingKey);
          const headers = signatureHeaders({ id: event, at: Date.now(), body: bytes(text) }, keys);
          for (const each of secrets) expect(verify(each, text, headers)).toEqual(JSON.parse(text));
          expect(
            () => verify(other, text, headers),
            "A signature does not match another secret.",
          ).toThrow("No matching signature");
        },
      ),
    );
  });

  test.each([
    ["the id", { "webhook-id": "evt_2" }, "{}"],
    ["the time", { "webhook-timestamp": String(Math.floor(Date.now() / 1_000) + 60) }, "{}"],
    ["the body", {}, "{ }"],
  ])("is invalid if %s is changed", (_, change, text) => {
    const own = secretText(new Uint8Array(32).fill(7));
    const headers = signatureHeaders({ id: "evt_1", at: Date.now(), body: bytes("{}") }, [
      signingKey(own),
    ]);
    expect(verify(own, "{}", headers)).toEqual({});
    expect(() => verify(own, text, { ...headers, ...change })).toThrow("No matching signature");
  });

  test("secrets have the specification's format", () => {
    expect(secretText(new Uint8Array(32).fill(255))).toBe(`whsec_${"/".repeat(42)}8=`);
  });
});
