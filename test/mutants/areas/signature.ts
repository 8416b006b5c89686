import { inArea } from "../mutant.ts";

/** What proves who sent something. */
export const signature = inArea("signature", [
  {
    name: "timestamp-in-milliseconds",
    sentence: "Receivers refuse every webhook, because its timestamp is far in the future.",
    file: "src/webhooks/sending/signature.ts",
    find: "const timestamp = String(Math.floor(at / 1_000));",
    replace: "const timestamp = String(at);",
    tests: ["test/webhooks/signature.test.ts"],
  },
  {
    name: "signature-without-timestamp",
    sentence: "An attacker who saw one webhook can send it again with a new timestamp.",
    file: "src/webhooks/sending/signature.ts",
    find: "update(`${id}.${timestamp}.`)",
    replace: "update(`${id}.`)",
    tests: ["test/webhooks/signature.test.ts"],
  },
  {
    name: "rotation-signs-with-one-secret",
    sentence: "While a secret is rotated, receivers with the other one refuse every webhook.",
    file: "src/webhooks/sending/signature.ts",
    find: '"webhook-signature": signatures.join(" "),',
    replace: '"webhook-signature": signatures[0] ?? "",',
    tests: ["test/webhooks/signature.test.ts"],
  },
  {
    name: "telnyx-accepts-old-callbacks",
    sentence: "A recorded callback of Telnyx can be replayed for ever.",
    file: "adapters/transport/telnyx/callbacks.ts",
    find:
      "    /^\\d{1,12}$/.test(timestamp) &&\n" +
      "    Math.abs(received_at - Number(timestamp) * 1_000) <= maxSignatureAgeMs;",
    replace: "    /^\\d{1,12}$/.test(timestamp);",
    tests: ["test/adapters/transport/telnyx-signature.test.ts"],
  },
  {
    name: "twilio-ignores-fields",
    sentence: "Anybody who saw one callback of Twilio can forge receipts.",
    file: "adapters/transport/twilio/callbacks.ts",
    find: '      .update(fields.join(""))\n',
    replace: "",
    tests: ["test/adapters/transport/twilio-signature.test.ts"],
  },
  {
    name: "revoked-key-is-valid",
    sentence: "An API key works after it was revoked.",
    file: "src/accounts/keys/check-key.ts",
    find: '  if (key.revoked_at !== null) return "invalid";\n',
    replace: "",
    tests: ["test/accounts/keys.test.ts"],
  },
  {
    name: "rotated-secret-never-ends",
    sentence: "The old secret of a rotated API key goes on working.",
    file: "src/accounts/keys/check-key.ts",
    find: 'return key.previous_expires_at > now ? "valid" : "replaced";',
    replace: 'return "valid";',
    tests: ["test/accounts/accounts.test.ts"],
  },
]);
