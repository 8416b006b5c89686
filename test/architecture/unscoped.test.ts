import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/**
 * The files that may reach the rows of all accounts and modes, and why. All others use one scope,
 * which the transaction adds to every key and row.
 */
const allowed: Readonly<Record<string, string>> = {
  "src/accounts/keys/key-ring.ts": "a key tells whose it is",
  "src/webchat/sessions/authenticate-visitor.ts": "a visitor's token tells whose session it is",
  "src/messages/transports/record-reports.ts": "a carrier knows no account",
  "src/messages/inbound/receive.ts": "the address that a message came to tells whose it is",
  "src/messages/receipts/record-receipt.ts":
    "the attempt that a receipt is about tells whose it is",
  "src/messages/receipts/apply-receipt.ts": "receipts that came early are nobody's yet",
  "src/messages/look-ups/identify-attempt.ts":
    "a carrier's id belongs to one attempt in all accounts",
  "src/senders/commands.ts": "a live address is one account's",

  "src/engine.ts": "connects the webhooks of all to the store",
  "src/host/lifecycle.ts": "prepares the storage",
  "src/accounts/known-accounts.ts": "checks that an account exists",
  "src/agents/runs/reap-runs.ts": "removes the old runs of all accounts",
  "src/agents/reap-versions.ts": "removes the old versions of all accounts",
  "src/api/backend.ts": "a visitor's token tells whose session it is",
  "src/api/health-check.ts": "the health check writes a setting of the engine",
  "src/accounts/commands.ts": "makes accounts, which have no scope before",
  "src/accounts/prepare-storage.ts": "the same",
  "src/accounts/rows.ts": "an account's row is of both modes: reads the own one",
  "src/accounts/reads.ts": "the same",
  "src/backlog/get-backlog.ts": "the lanes that it counts are those of one account and mode",

  "src/queue/jobs/rows.ts": "a dispatcher takes the jobs of all",
  "src/queue/jobs/arm.ts": "the same",
  "src/queue/jobs/lease.ts": "the same",
  "src/queue/handlers.ts": "the same",
  "src/queue/dispatcher/running-jobs.ts": "the same",
  "src/queue/dispatcher/dispatcher.ts": "the same",
  "src/queue/dispatcher/take-job.ts": "the same",
  "src/queue/dispatcher/due-jobs.ts": "the same",
  "src/queue/dispatcher/due-times.ts": "the same",
  "src/queue/dispatcher/lane-ring.ts": "the same",
  "src/queue/dispatcher/others-remotes.ts": "the same",
  "src/queue/engine-register.ts": "ends leases of the jobs of all",
  "src/queue/jobs/count-waiting.ts": "counts the jobs of lanes that belong to one account",
  "src/senders/throttle.ts": "reads the jobs that wait for a sender",
  "src/senders/release-throttled.ts": "the same",
  "src/senders/set-throttle.ts": "the same",
  "src/host/background-work.ts": "arms the engine's own job",
  "src/host/start-reminder.ts": "looks for jobs of all that no engine runs",
  "src/messages/descriptor.ts": "a job of the engine itself",
  "src/privacy/reap.ts": "removes what has expired, whosever it is",
  "src/webhooks/deliveries/remove-deliveries.ts": "the same",
  "src/events/reap-events.ts": "the same",
  "src/accounts/usage/reap-counts.ts": "the same",

  "src/webhooks/deliveries/fan-out.ts": "events of all accounts may commit together",
  "src/webhooks/deliveries/webhook-waker.ts":
    "follows the log of all deliveries, and reads how far it was followed",
  "src/events/streams/log-watcher.ts":
    "finds the streams of all accounts that another process's commits concern",
  "src/events/consumers/consumers.ts": "consumers take the events of all accounts",
  "src/events/consumers/call-consumer.ts": "the same",
  "src/events/consumers/consumer-reader.ts": "the same",
  "src/events/consumers/queued-events.ts": "the same",
  "src/events/consumers/reads.ts": "the same",
  "src/events/consumers/remove-consumer.ts": "the same",
};

/** This module creates the handles. */
const maker = "src/store/";

/** All names of such handles contain the word, except those of projections. */
const handle = /unscoped|\bProjection\b/i;

test("only a few files reach rows outside of a scope", () => {
  const found = globSync("src/**/*.ts")
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !path.startsWith(maker))
    .filter((path) => handle.test(readFileSync(path, "utf8")));
  expect(found.toSorted()).toEqual(Object.keys(allowed).toSorted());
});
