import { inArea } from "../mutant.ts";

/** Who may be texted. */
export const consent = inArea("consent", [
  {
    name: "stop-needs-small-letters",
    sentence: "A contact who texts `STOP` goes on getting messages.",
    file: "src/consents/keywords.ts",
    find: "const letters = foldText(body).replaceAll(",
    replace: "const letters = body.replaceAll(",
    tests: ["test/consents/keywords.test.ts"],
  },
  {
    name: "yes-opts-in-everybody",
    sentence: "A contact who answers YES to a question is recorded as having opted in.",
    file: "src/consents/keywords.ts",
    find: 'return keyword === "opt_in" && !isOptedOut ? null : keyword;',
    replace: "return keyword;",
    tests: ["test/consents/keywords.test.ts"],
  },
  {
    name: "opt-out-of-one-sender-is-lost",
    sentence: "An opt-in to one sender lifts the opt-outs of all others.",
    file: "src/contacts/consent/consent-rules.ts",
    find: "    opted_out_of: others(before.opted_out_of),",
    replace: '    opted_out_of: status === "opted_in" ? [] : others(before.opted_out_of),',
    tests: ["test/consents/rules.test.ts"],
  },
  {
    name: "opt-in-to-one-sender-wins",
    sentence: "An opt-out of all senders leaves out those that the contact once opted in to.",
    file: "src/contacts/consent/consent-rules.ts",
    find: "if (sender === null) return { ...noConsent, status };",
    replace: "if (sender === null) return { ...before, status };",
    tests: ["test/consents/rules.test.ts"],
  },
  {
    name: "hand-over-skips-consent",
    sentence: "A message that was queued before a STOP is still sent after it.",
    file: "src/messages/hand-over/begin-attempt.ts",
    find: 'if (decision.verdict !== "allow") {',
    replace: 'if (decision.verdict === "defer") {',
    tests: ["test/consents/consent.test.ts"],
  },
  {
    name: "confirmation-is-denied",
    sentence: "A contact who texts STOP gets no confirmation, which carriers demand.",
    file: "src/messages/hand-over/check-queued.ts",
    find: 'confirmsOptOut: message.keyword === "opt_out",',
    replace: 'confirmsOptOut: message.keyword === "opt_in",',
    tests: ["test/consents/consent.test.ts"],
  },
  {
    name: "opt-out-confirmed-each-time",
    sentence: "Each further STOP is answered, and a contact who wants no messages gets more.",
    file: "src/messages/inbound/apply-keywords.ts",
    find: "if (!isChanged || isConfirmedByCarrier(services, sender)) {",
    replace: "if (!isChanged && isConfirmedByCarrier(services, sender)) {",
    tests: ["test/consents/consent.test.ts"],
  },
  {
    name: "address-forgets-opt-out",
    sentence: "A contact who was erased and writes again has no opt-out any more.",
    file: "src/contacts/identities.ts",
    find: "    consent: status,\n    opted_out_of,",
    replace: '    consent: status === "opted_out" ? "unknown" : status,\n    opted_out_of,',
    tests: ["test/consents/consent.test.ts", "test/privacy/erase.test.ts"],
  },
  {
    name: "first-deferral-wins",
    sentence:
      "A message that quiet hours and a policy defer goes out at the earlier of both times.",
    file: "src/consents/check-policies.ts",
    find: "(latest === undefined || each.until > latest.until)",
    replace: "(latest === undefined || each.until < latest.until)",
    tests: ["test/consents/check-policies.test.ts"],
  },
]);
