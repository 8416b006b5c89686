import { inArea } from "../mutant.ts";

/** Two transactions, engines or clients at once. */
export const race = inArea("race", [
  {
    name: "opt-out-races-hand-over",
    sentence:
      "The hand-over does not lock the recipient's consent, so that a text follows a STOP which " +
      "was committed at the same time.",
    file: "src/contacts/consent/stored-consent.ts",
    find: 'await tx.get(identityByAddress, [medium, address], { hold: "recent" });',
    replace: "await tx.get(identityByAddress, [medium, address]);",
    tests: ["test/consents/races.test.ts"],
  },
  {
    name: "armed-job-is-removed",
    sentence:
      "A job that is armed while it ends is removed, so that a message which was just queued is " +
      "never sent.",
    file: "src/queue/jobs/arm.ts",
    find: 'const job = await findJob(within, order, { hold: "recent" });\n  if (job === undefined) return insertJob',
    replace: "const job = await findJob(within, order);\n  if (job === undefined) return insertJob",
    tests: ["test/queue/queued-while-leased.test.ts"],
  },
  {
    name: "due-job-is-not-written",
    sentence:
      "A message that is queued behind a job which is due already is never sent if the job is " +
      "leased and ends at the same time.",
    file: "src/queue/jobs/arm.ts",
    find: "if (!job.leased || Object.keys(change).length > 0) tx.update(jobs, job, change);",
    replace: "if (Object.keys(change).length > 0) tx.update(jobs, job, change);",
    tests: ["test/queue/queued-while-leased.test.ts"],
  },
  {
    name: "kept-row-is-not-held",
    sentence:
      "A command takes a row from memory that another process has changed, and its commit does " +
      "not notice.",
    file: "src/store/transactions/buffered-tx.ts",
    find: "this.#hold(collection, recent);",
    replace: "",
    tests: ["test/store/transactions/recent-rows.test.ts"],
  },
  {
    name: "rearmed-job-is-forgotten",
    sentence: "A job that was armed during its run ends with it, and its new work is never done.",
    file: "src/queue/jobs/lease.ts",
    find: "const due = Math.min(againAt ?? Infinity, job.rearmed_at ?? Infinity);",
    replace: "const due = againAt ?? Infinity;",
    tests: ["test/queue/job-rows.test.ts"],
  },
  {
    name: "mailbox-owner-is-not-held",
    sentence:
      "A webchat message that is handed over while its contact is merged is in no mailbox, so that " +
      "the visitor's page never shows it.",
    file: "src/webchat/mailboxes.ts",
    find: 'await tx.get(identityByAddress, ["webchat", address], { hold: true });',
    replace: 'await tx.get(identityByAddress, ["webchat", address]);',
    tests: ["test/webchat/redaction.test.ts"],
  },
  {
    name: "early-receipt-has-one-look",
    sentence:
      "A receipt that races the answer to its attempt is stored and never applied, so that a " +
      "delivered message stays `sent`.",
    file: "src/messages/receipts/record-receipt.ts",
    find: "    await arm(tx, earlyReceiptJob(transport, provider_message_id, tx.now + nextLookMs));\n",
    replace: "",
    tests: ["test/messages/evidence.test.ts"],
  },
  {
    name: "group-builds-on-failed-commit",
    sentence:
      "A group keeps writes that read those of a failed commit, so that it stores replies to " +
      "messages which do not exist.",
    file: "src/store/groups/committer.ts",
    find:
      "      if (previous !== undefined && !(await previous.committed)) {\n" +
      "        // The bodies read writes that were not committed.\n" +
      "        await open.group.abort();\n" +
      "        forgetBegunWork(open.commands);\n" +
      "        requeue(open.commands);\n" +
      "        return;\n" +
      "      }\n",
    replace: "      await previous?.committed;\n",
    tests: ["test/store/serializability.test.ts"],
  },
  {
    name: "revoked-key-stays-cached",
    sentence: "An API key works for another second in the process that revoked it.",
    file: "src/accounts/keys/key-ring.ts",
    find: "    this.#generation++;\n",
    replace: "",
    tests: ["test/accounts/keys.test.ts"],
  },
  {
    name: "attempt-is-recorded-twice",
    sentence:
      "A commit whose answer was lost is repeated with its attempts, so that a delivery fails " +
      "after fewer requests than promised.",
    file: "src/webhooks/sending/record-attempts.ts",
    find: "const newAttempts = attempts.filter((_, i) => recorded[i] !== true);",
    replace: "const newAttempts = attempts;",
    tests: ["test/webhooks/faults.test.ts", "test/webhooks/model.test.ts"],
  },
  {
    name: "merge-overtakes-mailbox",
    sentence:
      "A message that is on its way during a merge does not reach the browser of the other visitor.",
    file: "src/webchat/mailboxes.ts",
    find: "  await tx.get(contactById, [identity.contact_id], { hold: true });\n",
    replace: "",
    tests: ["test/webchat/mailbox.test.ts"],
  },
]);
