import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { expect, onTestFinished } from "vitest";
import { Carrier } from "../../examples/cluster/carrier.ts";
import { DeliveryLedger } from "../../examples/cluster/delivery-ledger.ts";
import { prepareAccount, type Settings } from "../../examples/cluster/engine.ts";
import { Processes } from "../../examples/cluster/processes.ts";
import { database } from "../support/postgres/test-database.ts";
import { longTest } from "../support/runs.ts";

longTest("a process that gets the terminal's Ctrl+C while it starts is replaced", async () => {
  const { url } = await database();
  const carrier = new Carrier(new DeliveryLedger());
  const settings: Settings = {
    databaseUrl: url,
    schema: "public",
    carrier: await carrier.listen(),
    startedAt: Date.now(),
  };
  await prepareAccount(settings);
  const crash = Promise.withResolvers<Error>();
  const processes = new Processes(settings, crash.resolve);
  onTestFinished(async () => {
    await processes.stop();
    carrier.close();
  });
  await processes.start(0);

  // The new process has not loaded its program yet, so it has no handler for the signal.
  const forked = once(cluster, "fork");
  processes.kill();
  const [started] = (await forked) as [Worker];
  started.process.kill("SIGINT");
  const serving = once(cluster, "listening").then(() => "serving");
  expect(await Promise.race([serving, crash.promise])).toBe("serving");
});
