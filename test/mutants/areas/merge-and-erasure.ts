import { inArea } from "../mutant.ts";

/** What reaches into every table. */
export const mergeAndErasure = inArea("merge-and-erasure", [
  {
    name: "erasure-leaves-events",
    sentence: "The text of an erased contact's messages stays in the log of events.",
    file: "src/privacy/erase-events.ts",
    find: '    contact: withoutName(data.contact),\n    body: "",\n    media: [],',
    replace: "    contact: withoutName(data.contact),\n    media: [],",
    tests: ["test/privacy/erase.test.ts"],
  },
  {
    name: "erasure-leaves-responses",
    sentence: "A repeated request under an old key shows the name of an erased contact.",
    file: "src/privacy/erase-history.ts",
    find: "  (tx, id, { responses }) => eraseStoredResponses(tx, id, responses),\n",
    replace: "",
    tests: ["test/privacy/erase.test.ts"],
  },
  {
    name: "redacted-message-is-sent",
    sentence:
      "A message that was redacted while its answer was lost is sent again without its text, if " +
      "the carrier has not got it.",
    file: "src/messages/hand-over/begin-attempt.ts",
    find: 'if (message.body === null || recipient === "erased") {',
    replace: 'if (recipient === "erased") {',
    tests: ["test/messages/lost-answers.test.ts"],
  },
  {
    name: "erasure-leaves-notes",
    sentence: "Notes about an erased contact stay when there are many of them.",
    file: "src/privacy/erase-history.ts",
    find: "const isLast = noteRows.length < chunks.parts && runRows.length < chunks.rows;",
    replace: "const isLast = runRows.length < chunks.rows;",
    tests: ["test/privacy/erase.test.ts"],
  },
  {
    name: "erased-contact-gets-message",
    sentence: "A queued message is sent to a contact who was erased.",
    file: "src/messages/hand-over/begin-attempt.ts",
    find: 'if (message.body === null || recipient === "erased") {',
    replace: "if (message.body === null) {",
    tests: ["test/privacy/erase.test.ts"],
  },
  {
    name: "erasure-spares-merged-contacts",
    sentence: "Contacts that were merged into an erased one stay, with their history.",
    file: "src/privacy/erase.ts",
    find: "const erased = [...merged, await contactToChange(tx, id)];",
    replace: "const erased = [...merged.slice(1), await contactToChange(tx, id)];",
    tests: ["test/privacy/erase.test.ts"],
  },
  {
    name: "merge-moves-one-chunk",
    sentence: "Only the first messages of a merged contact move, and the rest cannot be found.",
    file: "src/privacy/move-history.ts",
    find: 'if (moved >= max) return "more";',
    replace: 'if (moved > max) return "more";',
    tests: ["test/privacy/merge.test.ts"],
  },
  {
    name: "merge-keeps-two-conversations",
    sentence: "The older of two active conversations wins in a merge, and the contact's own ends.",
    file: "src/privacy/merge-rules.ts",
    find: '  if (ofSurvivor.status !== "closed") return ofOther;\n',
    replace: "",
    tests: ["test/privacy/merge-rules.test.ts"],
  },
  {
    name: "merge-forgets-earlier-merges",
    sentence: "The id of a contact that was merged twice leads nowhere.",
    file: "src/privacy/merge.ts",
    find: "others.map((each) => writeContact(tx, each, { merged_into: survivor.id }))",
    replace: "own.map((each) => writeContact(tx, each, { merged_into: survivor.id }))",
    tests: ["test/privacy/merge.test.ts"],
  },
  {
    name: "redaction-leaves-event",
    sentence: "The text of a redacted message stays in the event that webhooks can replay.",
    file: "src/privacy/redact.ts",
    find: "await rewriteEvents(tx, [{ event: received, data }]);",
    replace: "await rewriteEvents(tx, []);",
    tests: ["test/conversations/conversations.test.ts"],
  },
  {
    name: "redaction-leaves-latest-runs",
    sentence: "The text of a redacted message stays in the latest of many runs.",
    file: "src/privacy/remove-quotes.ts",
    find: "[runRows, ...observationLists].some(({ length }) => length === max)",
    replace: "[runRows, ...observationLists].some(({ length }) => length > max)",
    tests: ["test/privacy/long-redactions.test.ts"],
  },
  {
    name: "redaction-spares-events-before-a-merge",
    sentence:
      "The error of a consumer at an event of a merged contact quotes a message that was redacted.",
    file: "src/privacy/remove-quotes.ts",
    find: "  return [...(await tx.list(contactsMergedInto, [survivor.id], maxMerged)), survivor];",
    replace: "  return [survivor];",
    tests: ["test/privacy/consumer-errors.test.ts"],
  },
  {
    name: "redaction-ignores-moved-messages",
    sentence:
      "A message is redacted while an agent's turn has it in its history, and its run quotes it.",
    file: "src/privacy/redact.ts",
    find: "const moved_count = conversation?.moved_count ?? null;",
    replace: "const moved_count = null;",
    tests: ["test/privacy/long-redactions.test.ts"],
  },
  {
    name: "merge-forgets-a-late-message",
    sentence:
      "A scheduled message that is sent while a merge moves its conversation does not count as " +
      "the contact's last message.",
    file: "src/conversations/write.ts",
    find: "if (contact === undefined || (contact.last_message_at ?? 0)",
    replace: "if (contact?.id !== contact_id || (contact.last_message_at ?? 0)",
    tests: ["test/privacy/merge.test.ts"],
  },
]);
