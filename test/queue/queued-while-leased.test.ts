/** Messages that are queued while the job of their conversation is leased or ends. */
import { expect, it } from "vitest";
import { attempts } from "../../src/messages/rows.ts";
import type { SendAnswer } from "../../src/ports/index.ts";
import { jobs } from "../../src/queue/jobs/rows.ts";
import { accepted, carrier, held } from "../support/engines/carrier.ts";
import { world } from "../support/engines/world.ts";
import { overtaken, writesTo } from "../support/storage/groups.ts";
import { storages } from "../support/storage/storages.ts";

const to = "+15005550001";
const bodiesOf = ({ calls }: ReturnType<typeof carrier>) =>
  calls.map(({ message }) => message.body);

// A lease and its first step share a transaction. Another process queues a message just before that
// transaction commits, when the job is due and nothing need be armed.
it.each(
  storages.flatMap((storage) => [
    { ...storage, during: "the hand-over of", is: writesTo(attempts, "insert"), cancels: false },
    { ...storage, during: "the end of the job of", is: writesTo(jobs, "remove"), cancels: true },
  ]),
)(
  "a message is sent that another process queues during $during the one before, on $name",
  async ({ name, open, is, cancels }) => {
    const { clock, engine, started } = world();
    const ground = open();
    const other = engine(ground.connect());
    const { id } = await other.messages.send({ to, body: "first" });
    if (cancels) await other.messages.cancel(id);
    await clock.advance(1);
    let queued: Promise<unknown> | undefined;
    const port = overtaken(ground.connect(), is, async () => {
      queued = other.messages.send({ to, body: "second" });
      // PostgreSQL lets the other process wait for the lease, which locks the job.
      if (name !== "PostgreSQL") await queued;
    });
    const line = carrier();
    await started(port, { transports: [line] });
    await clock.settle();
    await queued;
    await clock.advance(60_000);
    expect(bodiesOf(line)).toEqual(cancels ? ["second"] : ["first", "second"]);
  },
);

it.each(storages.filter(({ name }) => name !== "memory"))(
  "a message is sent that a transaction of the host application queues during a hand-over, on $name",
  async ({ open }) => {
    const { clock, started } = world();
    const slot = held<SendAnswer>();
    const line = carrier({
      send: ({ body }, attempt) => (body === "in the slot" ? slot.promise : accepted(attempt)),
    });
    const one = await started(open().connect(), { transports: [line], laneConcurrency: 1 });
    await one.messages.send({ to: "+15005550009", body: "in the slot" });
    await clock.advance(10);
    const attempt = line.attempt();
    await one.messages.send({ to, body: "first" });
    await clock.advance(10);
    const queued = held<void>();
    const end = held<void>();
    const transaction = one.transaction(async (tx) => {
      await one.messages.send({ to, body: "second" }, { tx });
      queued.answer();
      await end.promise;
    });
    await queued.promise;
    slot.answer(accepted(attempt));
    await clock.settle();
    end.answer();
    await transaction;
    await clock.advance(60_000);
    expect(bodiesOf(line)).toEqual(["in the slot", "first", "second"]);
  },
);

// The job was armed during its run, so a third message need not write it. Before the third is
// committed, the run ends, and the next one sends the second message and removes the job.
it.each(storages)(
  "a message is sent that another process queues while the job ends twice, on $name",
  async ({ open }) => {
    const { clock, engine, started } = world();
    const ground = open();
    const slot = held<SendAnswer>();
    const line = carrier({
      send: ({ body }, attempt) => (body === "first" ? slot.promise : accepted(attempt)),
    });
    const one = await started(ground.connect(), { transports: [line] });
    await one.messages.send({ to, body: "first" });
    await clock.advance(10);
    const attempt = line.attempt();
    await one.messages.send({ to, body: "second" });
    const port = overtaken(
      ground.connect(),
      () => true,
      async () => {
        slot.answer(accepted(attempt));
        await clock.settle();
        await clock.advance(10);
      },
    );
    await engine(port).messages.send({ to, body: "third" });
    await clock.advance(60_000);
    expect(bodiesOf(line)).toEqual(["first", "second", "third"]);
  },
);
