import { inArea } from "../mutant.ts";

/** Which engine has a job, and for how long. */
export const lease = inArea("lease", [
  {
    name: "fence-is-not-compared",
    sentence:
      "An engine that stalled goes on with a job that another engine has taken, and messages go " +
      "out twice.",
    file: "src/queue/jobs/lease.ts",
    find: "return job?.leased === true && job.fence === claim.fence ? job : undefined;",
    replace: "return job?.leased === true ? job : undefined;",
    tests: ["test/queue/job-rows.test.ts"],
  },
  {
    name: "job-is-leased-early",
    sentence: "A job is taken while another engine has it.",
    file: "src/queue/jobs/lease.ts",
    find: "if (job === undefined || job.due_at > tx.now) return undefined;",
    replace: "if (job === undefined) return undefined;",
    tests: ["test/queue/job-rows.test.ts"],
  },
  {
    name: "lease-is-not-extended",
    sentence:
      "A run that takes longer than a lease loses its job although it works, and another engine " +
      "repeats its calls.",
    file: "src/queue/jobs/lease.ts",
    find: "  if (job.due_at - tx.now >= ms / 2) return job.due_at;\n",
    replace: "  if (job.due_at - tx.now >= 0) return job.due_at;\n",
    tests: ["test/queue/job-rows.test.ts"],
  },
  {
    name: "hand-over-without-lease",
    sentence: "An engine that has lost a conversation to another one still hands a message over.",
    file: "src/messages/hand-over/begin-attempt.ts",
    find: "await renew(tx, claim);\n  if (leased_until === undefined) return undefined;",
    replace: "(await renew(tx, claim)) ?? tx.now + 60_000;",
    tests: ["test/queue/leases.test.ts"],
  },
  {
    name: "call-after-a-stall",
    sentence:
      "A process that stalled after the hand-over calls the carrier, although another engine may " +
      "have sent the message.",
    file: "src/messages/hand-over/call-carrier.ts",
    find: "if (abort.aborted || clock.now() > attempt.leased_until - callDeadlineMs) {",
    replace: "if (abort.aborted) {",
    tests: ["test/queue/calls-not-made.test.ts"],
  },
  {
    name: "attempt-never-made-counts",
    sentence: "A message fails although one of its allowed attempts was never made.",
    file: "src/messages/hand-over/take-back.ts",
    find: "attempts: number - 1,",
    replace: "attempts: number,",
    tests: ["test/queue/calls-not-made.test.ts"],
  },
  {
    name: "leases-of-living-engines-end",
    sentence: "The check for crashed engines also ends the leases of engines that live.",
    file: "src/queue/engine-register.ts",
    find: "if (job?.leased !== true || job.leased_by !== engine || job.due_at <= tx.now) continue;",
    replace: "if (job?.leased !== true || job.due_at <= tx.now) continue;",
    tests: ["test/queue/job-rows.test.ts"],
  },
  {
    name: "crashed-job-does-not-wait",
    sentence:
      "A job that crashes its process is taken again at once each time, so that all engines crash " +
      "in a loop.",
    file: "src/queue/engine-register.ts",
    find: "const pause = job.failures === 0 ? 0 : pauseAfter(job.failures);",
    replace: "const pause = 0;",
    tests: ["test/queue/job-rows.test.ts"],
  },
  {
    name: "look-up-during-the-call",
    sentence:
      "A lost answer is looked up while the call may still run, so that a message which is just " +
      "being sent is sent again.",
    file: "src/messages/attempts/follow-up-times.ts",
    find: "? Math.max(attempt.leased_until, now) + afterLeaseMs",
    replace: "? now + afterLostAnswerMs",
    tests: ["test/messages/evidence.test.ts"],
  },
  {
    name: "overtaken-engine-waits-for-its-poll",
    sentence: "An engine whose jobs another one takes first does nothing for five seconds.",
    file: "src/queue/dispatcher/dispatcher.ts",
    find: "isOvertaken ? continueMs * 2 ** (this.#overtaken - 1) : Infinity,",
    replace: "Infinity,",
    tests: ["test/queue/dispatcher.test.ts"],
  },
]);
