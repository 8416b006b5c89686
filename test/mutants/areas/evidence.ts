import { inArea } from "../mutant.ts";

/** What answers, look-ups and receipts prove. */
export const evidence = inArea("evidence", [
  {
    name: "undelivered-outranks-delivered",
    sentence: "A message that arrived is reported as undelivered, and the host sends it again.",
    file: "src/messages/attempts/evidence.ts",
    find: "  undelivered: 3,\n  delivered: 4,",
    replace: "  undelivered: 4,\n  delivered: 3,",
    tests: ["test/messages/evidence-rules.test.ts"],
  },
  {
    name: "latest-receipt-wins",
    sentence: "The status depends on the order in which receipts arrive.",
    file: "src/messages/attempts/evidence.ts",
    find: "...(compareEvidence(b, a) < 0 ? b : a),",
    replace: "...b,",
    tests: ["test/messages/evidence-rules.test.ts"],
  },
  {
    name: "latest-time-wins",
    sentence:
      "A repeated receipt moves the time of delivery, and reports of response times change.",
    file: "src/messages/attempts/evidence.ts",
    find: "return Math.min(a, b);",
    replace: "return Math.max(a, b);",
    tests: ["test/messages/evidence-rules.test.ts"],
  },
  {
    name: "read-does-not-prove-delivery",
    sentence: "A message whose only receipt is `read` has no time of delivery.",
    file: "src/messages/attempts/evidence.ts",
    find: 'const delivered = status === "delivered" || status === "read";',
    replace: 'const delivered = status === "delivered";',
    tests: ["test/messages/evidence-rules.test.ts"],
  },
  {
    name: "late-acceptance-is-dropped",
    sentence:
      "An acceptance that arrives after the lease has ended is ignored, so that a sent message " +
      "stays ambiguous or is sent again.",
    file: "src/messages/hand-over/record-answer.ts",
    find: 'if (outcome === "accepted") {',
    replace:
      'if (outcome === "accepted" && attempt.answered_at !== null) return undefined;\n' +
      '  if (outcome === "accepted") {',
    tests: ["test/messages/evidence.test.ts"],
  },
  {
    name: "receipt-of-an-abandoned-attempt",
    sentence:
      "After `undelivered`, a later report about the same attempt takes the message back from the " +
      "next carrier.",
    file: "src/messages/attempts/evidence.ts",
    find: "  sent: 1,\n  unconfirmed: 2,\n  undelivered: 3,",
    replace: "  undelivered: 1,\n  sent: 2,\n  unconfirmed: 3,",
    tests: ["test/messages/fallback-evidence.test.ts"],
  },
  {
    name: "receipt-of-another-transport",
    sentence: "One carrier can report on a message that another carrier has.",
    file: "src/messages/receipts/record-receipt.ts",
    find: 'if (message === undefined || attempt.transport !== transport) return "unknown";',
    replace: 'if (message === undefined) return "unknown";',
    tests: ["test/messages/evidence.test.ts"],
  },
  {
    name: "answer-takes-back-a-report",
    sentence:
      "The answer to a call hides that the carrier has reported `undelivered` before, so that the " +
      "message later stays with this carrier, `sent`, instead of going to the next one.",
    file: "src/messages/attempts/carrier-reports.ts",
    find: "const state = join(attempt.evidence, evidence).state;",
    replace: "const state = join(null, evidence).state;",
    tests: ["test/messages/late-receipts.test.ts"],
  },
  {
    name: "wait-for-receipts-never-ends",
    sentence:
      "With a carrier that cannot look messages up, a message whose receipt never comes stays " +
      "`sent` for ever.",
    file: "src/messages/attempts/follow-up-times.ts",
    find: 'if (facts.receipts === "none") return undefined;',
    replace: 'if (facts.receipts === "none" || !facts.canLookUp) return undefined;',
    tests: ["test/messages/follow-up-times.test.ts", "test/messages/messages.test.ts"],
  },
]);
