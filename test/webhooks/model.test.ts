import fc from "fast-check";
import { expect, it } from "vitest";
import { maxAttempts } from "../../src/webhooks/sending/schedule.ts";
import { modelCommands } from "../support/model-commands.ts";
import { runs } from "../support/runs.ts";
import { startProcess, type Process } from "./engine-process.ts";
import { checkInvariants } from "./invariants.ts";
import type { Answer } from "./receivers.ts";
import { webhookWorld, type WebhookWorld } from "./world.ts";

const url = "https://a.example/hook";
const hourMs = 3_600_000;
/** The longest time from a request until its response is recorded: the deadline and some tries. */
const responseMs = 60_000;

interface Secret {
  readonly text: string;
  readonly from: number;
  /** When it expires. */
  until: number;
}

/** The state of a webhook, as a client can know it. */
class Model {
  id = "";
  status: "enabled" | "paused" = "enabled";
  /** When the last response 410 has been recorded for sure. */
  goneUntil = -Infinity;
  /** The receiver has answered 410 since the status was set, or was about to answer it. */
  saidGone = false;
  answers: readonly Answer[] = [];
  told: string[] = [];
  readonly secrets: Secret[] = [];
  /** Events of deleted webhooks, and their number of requests. */
  readonly gone = new Set<string>();
  requestsGone = 0;
  deletedAt = 0;
  cutOff = 0;

  setStatus(status: Model["status"], now: number): void {
    this.status = status;
    this.saidGone = now < this.goneUntil;
  }

  secretsAt(at: number): string[] {
    return this.secrets
      .filter(({ from, until }) => from <= at && at < until)
      .map(({ text }) => text);
  }
}

interface Real {
  readonly world: WebhookWorld;
  process: Process;
  readonly model: Model;
}

type Command = fc.AsyncCommand<Model, Real>;

const command = modelCommands<Model, Real>(async (model, { world }) => {
  const { status } = await world.desk.webhooks.get(model.id);
  if (model.saidGone) {
    expect(
      ["disabled", model.status],
      "A receiver that is gone disables the webhook, unless it was enabled again.",
    ).toContain(status);
  } else expect(status, "The webhook has the status that was set last.").toBe(model.status);
});

/** Advances to a millisecond without requests, so that later requests follow the next change. */
async function toFreshTime({ clock, receivers }: WebhookWorld): Promise<void> {
  do await clock.advance(1);
  while (receivers.seen.some(({ at }) => at === clock.now()));
}

async function create(model: Model, { world }: Real): Promise<void> {
  const made = await world.hook("a", (_, n) => {
    const answer = model.answers[n % Math.max(1, model.answers.length)] ?? {};
    if (answer.status === 410) {
      model.saidGone = true;
      model.goneUntil = world.clock.now() + responseMs;
    }
    return answer;
  });
  model.id = made.id;
  model.secrets.push({ text: made.secret ?? "", from: world.clock.now(), until: Infinity });
}

const answer: fc.Arbitrary<Answer> = fc.record({
  status: fc.constantFrom(200, 200, 200, 307, 400, 410, 429, 500, 503),
  headers: fc.constantFrom<Readonly<Record<string, string>>>(
    {},
    { "retry-after": "3600" },
    { "retry-after": "0" },
  ),
  after: fc.constantFrom(0, 5, 900, 14_000, Infinity),
});

const enable = command("enable", async (model, { world }) => {
  await world.desk.webhooks.update(model.id, { status: "enabled" });
  model.setStatus("enabled", world.clock.now());
});

const commands: fc.Arbitrary<Command>[] = [
  fc
    .integer({ min: 1, max: 5 })
    .map((count) =>
      command(`tell ${count}`, async (model, { world }) =>
        model.told.push(...(await world.tell(count))),
      ),
    ),
  fc.array(answer, { minLength: 1, maxLength: 6 }).map((answers) =>
    command(`answer ${JSON.stringify(answers)}`, async (model) => {
      model.answers = answers;
    }),
  ),
  fc
    .constantFrom(1, 900, 6_000, 70_000, 700_000, 2.2 * hourMs, 18 * hourMs, 40 * hourMs)
    .map((ms) => command(`pass ${ms}`, (_, { world }) => world.pass(ms))),
  fc.constant(
    command("pause", async (model, { world }) => {
      await world.desk.webhooks.update(model.id, { status: "paused" });
      model.setStatus("paused", world.clock.now());
    }),
  ),
  fc.constant(enable),
  fc.nat().map((n) =>
    command(`redeliver ${n}`, async (model, { world }) => {
      const { data } = await world.desk.webhooks.deliveries(model.id, { limit: 100 });
      const delivery = data[n % Math.max(1, data.length)];
      if (delivery !== undefined) await world.desk.webhooks.redeliver(model.id, delivery.id);
    }),
  ),
  fc.constantFrom(0, hourMs, 30 * hourMs).map((ago) =>
    command(`recover ${ago}`, async (model, { world }) => {
      await world.desk.webhooks.recover(model.id, {
        since: new Date(world.clock.now() - ago).toISOString(),
      });
    }),
  ),
  fc.constantFrom(0, 3_600, 86_400).map((grace_seconds) =>
    command(`rotate ${grace_seconds}`, async (model, { world }) => {
      await toFreshTime(world);
      const { secret } = await world.desk.webhooks.rotateSecret(model.id, { grace_seconds });
      const now = world.clock.now();
      const [last, ...older] = model.secrets.toReversed();
      for (const each of older) each.until = Math.min(each.until, now);
      if (last !== undefined) last.until = now + grace_seconds * 1_000;
      model.secrets.push({ text: secret, from: now, until: Infinity });
    }),
  ),
  fc.constant(
    command("delete", async (model, real) => {
      const { world } = real;
      await world.idle();
      await toFreshTime(world);
      await world.desk.webhooks.remove(model.id);
      for (const id of model.told) model.gone.add(id);
      model.told = [];
      model.requestsGone = world.receivers.seen.length;
      model.deletedAt = world.clock.now();
      for (const each of model.secrets) each.until = Math.min(each.until, model.deletedAt);
      Object.assign(model, { status: "enabled", saidGone: false, goneUntil: -Infinity });
      await create(model, real);
    }),
  ),
  fc.constantFrom("crash" as const, "haste" as const, "stop" as const).map((how) =>
    command(how, async (model, real) => {
      if (how === "crash") await real.process.crash();
      else await real.process.stop(how === "haste");
      model.cutOff += real.process.cutOff();
      real.process = await startProcess(real.world);
    }),
  ),
  fc
    .integer({ min: 1, max: 3 })
    .map((commits) => command(`lose ${commits}`, async (_, real) => real.process.lose(commits))),
];

/** Each delivery has succeeded, failed with all attempts, or is parked. */
async function checkOutcomes(model: Model, { world }: Real, isParked: boolean): Promise<void> {
  const rows = await world.deliveries();
  const { data: open } = await world.desk.webhooks.deliveries(model.id, {
    status: isParked ? "pending" : "parked",
  });
  expect(open, "No delivery is left in a state that contradicts the webhook's.").toEqual([]);
  expect(
    rows.map(({ event_id }) => event_id),
    "Each matching event has one delivery, in the order of the events.",
  ).toEqual(model.told);
  const attempts = await world.attempts();
  for (const { id, status, history, manual_at, next_attempt_at } of rows) {
    expect(manual_at, `Delivery ${id} has no manual retry outstanding.`).toBe(null);
    expect(
      next_attempt_at === null,
      `Delivery ${id} has a next attempt only while it is pending: it is ${status}.`,
    ).toBe(status !== "pending");
    const saidGone = attempts.some(
      ({ delivery_id, status_code }) => delivery_id === id && status_code === 410,
    );
    if (status === "failed") {
      expect(
        history.length === maxAttempts || saidGone,
        `Delivery ${id} fails only after ${maxAttempts} attempts or a 410: it had ${history.length}.`,
      ).toBe(true);
    } else {
      expect(
        isParked ? ["succeeded", "pending"] : ["succeeded"],
        `Delivery ${id} ends, unless its webhook is not enabled.`,
      ).toContain(status);
    }
  }
  // Deleted webhooks get no further requests.
  const late = world.receivers.seen
    .slice(model.requestsGone)
    .filter(({ id }) => model.gone.has(id));
  expect(late, "A deleted webhook gets no further requests.").toEqual([]);
}

it("each delivery succeeds, fails after all attempts, or is parked, under all commands", async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 30, size: "+1" }), async (steps) => {
      const world = await webhookWorld();
      const model = new Model();
      const real: Real = { world, process: await startProcess(world), model };
      await create(model, real);
      await fc.asyncModelRun(() => ({ model, real }), steps);

      model.answers = [];
      for (const hours of [1, 19]) await world.pass(hours * hourMs);
      const { status } = await world.desk.webhooks.get(model.id);
      await checkOutcomes(model, real, status !== "enabled");
      await enable.run(model, real);
      await world.pass(19 * hourMs);
      await checkOutcomes(model, real, false);
      await real.process.crash();
      await checkInvariants(world, {
        cutOff: model.cutOff,
        secretsAt: (_, at) => model.secretsAt(at),
        deleted: model.gone,
      });
      expect(
        world.receivers.busiest.get(url) ?? 0,
        "A webhook gets at most 8 requests at a time.",
      ).toBeLessThanOrEqual(8);
    }),
    { numRuns: runs(30), endOnFailure: true },
  );
});
