import { expect, it } from "vitest";
import { memory } from "../../adapters/storage/memory/index.ts";
import { SharedStorage } from "../../adapters/testing/world/ports/shared-storage.ts";
import { events as eventRows } from "../../src/events/rows.ts";
import type { Write } from "../../src/ports/storage.ts";
import type { UpdateWebhook } from "../../src/webhooks/input-types.ts";
import { deliveriesDue, deliveriesInOrder } from "../../src/webhooks/rows.ts";
import { held } from "../support/engines/carrier.ts";
import { beforeCommits } from "../support/storage/groups.ts";
import { webhookWorld, type WebhookWorld } from "./world.ts";

it.each([
  { when: "leases the job of", sleptMs: 0 },
  { when: "reads the deliveries of", sleptMs: 0 },
  // Its monotonic clock may stand still meanwhile.
  { when: "reads the deliveries of", sleptMs: 70_000 },
])(
  "a process that stalls while it $when a webhook, and sleeps $sleptMs ms, repeats nothing that another one sent",
  async ({ when, sleptMs }) => {
    const storage = new SharedStorage(memory());
    const { hook, tell, start, pass, step, receivers } = await webhookWorld({
      connect: () => storage.connect(),
    });
    await hook("a", () => ({ after: 10_000 }), { ordering: "fifo" });
    const events = await tell(3);
    const gate = held<void>();
    let isLeased = false;
    let isStalled = false;
    const stalling = storage.connect({
      async delay(stage, { reads = [], writes = [] }) {
        isLeased ||= stage === "outcome" && writes.some(leasesDrain);
        const isRead = reads.some((read) => "index" in read && read.index === deliveriesInOrder);
        isStalled ||= isLeased && (when.startsWith("leases") || (stage === "rows" && isRead));
        if (isStalled) await gate.promise;
      },
    });
    void start({}, stalling);
    await pass(1_000);
    expect(isStalled).toBe(true);
    step(sleptMs);
    await start();
    await pass(sleptMs > 0 ? 5_000 : 70_000);
    gate.answer();
    await pass(60_000);
    expect(receivers.seen.map(({ id }) => id)).toEqual(events);
  },
);

it("an engine whose stop is past its deadline sends nothing, though the stop still waits for a read", async () => {
  const storage = new SharedStorage(memory());
  const { hook, tell, start, pass, receivers } = await webhookWorld({
    connect: () => storage.connect(),
  });
  await hook("a", () => ({}), { ordering: "fifo" });
  const gate = held<void>();
  let isSlow = false;
  let isHeld = false;
  const slow = storage.connect({
    async delay(_stage, { reads = [] }) {
      const isOfConsumer = reads.some(
        (read) => "index" in read && read.index.collection === eventRows,
      );
      isHeld ||= isSlow && isOfConsumer;
      if (isSlow && isOfConsumer) await gate.promise;
    },
  });
  const one = await start({}, slow);
  const consumer = one.consume("slow", ["contact.created"], () => {});
  await pass(1_000);
  isSlow = true;
  await pass(5_000);
  expect(isHeld).toBe(true);
  const isOver = one.stop({ deadlineMs: 0 });
  await pass(1_000);
  const events = await tell(3);
  await pass(30_000);
  expect(receivers.seen).toEqual([]);
  gate.answer();
  await pass(1_000);
  await isOver;
  await consumer.stop();
  await start();
  await pass(70_000);
  expect(receivers.seen.map(({ id }) => id)).toEqual(events);
});

it("a contact that is erased while its deliveries are being read is in none that is sent", async () => {
  const storage = new SharedStorage(memory());
  const { hook, start, pass, receivers } = await webhookWorld({
    connect: () => storage.connect(),
  });
  const gate = held<void>();
  let isHeld = false;
  let isSlow = false;
  const slow = storage.connect({
    async delay(stage, { reads = [] }) {
      const isOfDrain = reads.some((read) => "index" in read && read.index === deliveriesDue);
      if (!isSlow || stage !== "rows" || !isOfDrain) return;
      isHeld = true;
      await gate.promise;
    },
  });
  const account = (await start({}, slow)).account();
  await hook("a");
  isSlow = true;
  const said = await account.sandbox.inbound({ from: "+15550000001", body: "octopus" });
  await pass(1_000);
  expect(isHeld).toBe(true);
  await account.contacts.erase(said.contact_id ?? "");
  gate.answer();
  await pass(10_000);
  expect(receivers.seen).toEqual([]);
});

const leasesDrain = (write: Write): boolean =>
  "row" in write && write.row["kind"] === "deliver" && write.row["leased"] === true;

type Change = (world: WebhookWorld, id: string) => Promise<unknown>;

const pause: Change = ({ desk }, id) => desk.webhooks.update(id, { status: "paused" });
const enable: Change = ({ desk }, id) => desk.webhooks.update(id, { status: "enabled" });
const tell: Change = (world) => world.tell();
const free: Change = ({ desk }, id) => desk.webhooks.update(id, { ordering: "none" });
const redeliver: Change = async ({ desk, deliveries }, id) => {
  const [first] = await deliveries();
  await desk.webhooks.redeliver(id, first?.id ?? "").catch(() => {});
};

interface Overtaking {
  readonly what: string;
  readonly before: Pick<UpdateWebhook, "status" | "ordering">;
  /** Each overtakes one commit of the process that sends, the second a later one or the same. */
  readonly changes: readonly [Change, Change];
}

it.each<Overtaking>([
  { what: "is enabled", before: { status: "paused" }, changes: [tell, enable] },
  { what: "is paused and enabled again", before: {}, changes: [pause, enable] },
  { what: "gets more to do", before: { ordering: "fifo" }, changes: [redeliver, free] },
])(
  "no delivery is left behind if a webhook $what when any other commit is about to happen",
  async ({ before, changes: [one, another] }) => {
    /** Whether there were so many commits before the process had nothing more to do. */
    const overtaken = async (first: number, second: number): Promise<boolean> => {
      const storage = memory();
      const world = await webhookWorld({ connect: () => storage });
      const { id } = await world.hook("a");
      await world.desk.webhooks.update(id, before);
      await world.tell(2);
      let commits = 0;
      const port = beforeCommits(storage, async () => {
        const n = commits++;
        if (n === first) await one(world, id);
        if (n === second) await another(world, id);
      });
      await world.start({}, port);
      await world.pass(100);
      if (commits <= second) return false;
      await world.pass(6_000);
      const left = (await world.deliveries()).filter(({ status }) => status !== "succeeded");
      expect([first, second, left]).toEqual([first, second, []]);
      return true;
    };
    for (let first = 0; await overtaken(first, first); first++) {
      for (let second = first + 1; await overtaken(first, second); second++);
    }
  },
);
