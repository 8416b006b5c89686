import type { Message, MessagingEngine } from "../../../adapters/entry.ts";
import { messages } from "../../../src/messages/rows.ts";
import { told, type Edit, type SendRequest } from "../clients.ts";
import { laws } from "../invariant.ts";
import { statusRank } from "../invariants/status.ts";
import { allRows } from "../rows.ts";
import { fallsBack } from "../settings.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

/** One of the latest acknowledged sends that fits. */
function pickSend(
  world: World,
  fits: (request: SendRequest) => boolean,
): { request: SendRequest; id: string } | undefined {
  const request = world.dice.pick(
    world.clients.requests.filter((each) => each.message !== undefined && fits(each)).slice(-12),
  );
  return request?.message === undefined ? undefined : { request, id: request.message.id };
}

const canceler: Actor = {
  does: "A client cancels a message.",
  group: "changes",
  weight: 5,
  async act(world) {
    const { clients, dice } = world;
    const chosen = pickSend(world, ({ cancel }) => cancel === "none");
    if (chosen === undefined) return;
    const { request, id } = chosen;
    request.cancel = "requested";
    world.trace.note([id], `client: cancels send ${request.number}`);
    const answer = dice.chance(0.6)
      ? await clients.askUntilAnswered(cancelWithKey(clients.nextKey(), id), [id])
      : await clients.ask((engine) => engine.messages.cancel(id));
    request.cancel = answer.kind === "done" ? "acknowledged" : answer.kind;
    world.trace.note([id], `client: send ${request.number}, cancel: ${told(answer)}`);
  },
};

const cancelWithKey = (idempotencyKey: string, id: string) => (engine: MessagingEngine) =>
  engine.messages.cancel(id, { idempotencyKey });

const editor: Actor = {
  does: "A client edits a scheduled message.",
  group: "changes",
  weight: 3,
  async act(world) {
    const { clients, dice, clock } = world;
    const chosen = pickSend(
      world,
      ({ input, edits }) =>
        input.send_at !== undefined && edits.every(({ state }) => state !== "requested"),
    );
    if (chosen === undefined) return;
    const { request, id } = chosen;
    const changes = dice.chance(0.5)
      ? { body: `edited text of send ${request.number}, ${world.words.next()}` }
      : { send_at: new Date(clock.now() + dice.between(-5_000, 120_000)).toISOString() };
    const edit: Edit = { ...changes, state: "requested" };
    request.edits.push(edit);
    world.trace.note([id], `client: edits send ${request.number}: ${JSON.stringify(changes)}`);
    const idempotencyKey = clients.nextKey();
    const answer = await clients.askUntilAnswered(
      (engine) => engine.messages.edit(id, changes, { idempotencyKey }),
      [id],
    );
    edit.state = answer.kind === "done" ? "acknowledged" : "refused";
    world.trace.note([id], `client: send ${request.number}, edit: ${told(answer)}`);
  },
};

const redactor: Actor = {
  does: "A client redacts a message.",
  group: "changes",
  weight: 3,
  async act(world) {
    const { clients, dice } = world;
    if (dice.chance(0.3)) return redactInbound(world);
    const chosen = pickSend(
      world,
      ({ redaction }) => redaction === "none" || redaction === "refused",
    );
    if (chosen === undefined) return;
    const { request, id } = chosen;
    request.redaction = "requested";
    world.trace.note([id], `client: redacts send ${request.number}`);
    const idempotencyKey = clients.nextKey();
    const answer = await clients.askUntilAnswered((engine) =>
      engine.messages.redact(id, { idempotencyKey }),
    );
    request.redaction = answer.kind === "done" ? "acknowledged" : "refused";
    world.trace.note([id], `client: send ${request.number}, redaction: ${told(answer)}`);
    if (answer.kind !== "done" || !isWaiting(answer.value)) return;
    if (world.operators.erases(answer.value.contact_id)) return;
    const description = `${id} was redacted while it was ${answer.value.status}`;
    world.report(laws.redactedAfterwards, [id], description);
  },
};

const isWaiting = ({ status }: Message): boolean =>
  status === "scheduled" || status === "queued" || status === "sending";

async function redactInbound({ clients, dice, database }: World): Promise<void> {
  const inbound = dice.pick(
    allRows(database, messages).filter(({ direction }) => direction === "inbound"),
  );
  if (inbound === undefined) return;
  let tries = 0;
  const answer = await clients.askUntilAnswered((engine) => {
    tries++;
    return engine.messages.redact(inbound.id);
  });
  if (answer.kind === "done") clients.redactedInbound.add(inbound.id);
  else if (tries > 1) clients.perhapsRedacted.add(inbound.id);
}

/** Messages that a client polls at the moment. */
const polled = new WeakMap<World, Set<string>>();

const poller: Actor = {
  does: "A client polls a message's status, which must never go back.",
  group: "changes",
  weight: 6,
  async act(world) {
    const { dice, clients, clock } = world;
    const request = dice.pick(
      clients.requests.filter(({ message }) => message !== undefined).slice(-10),
    );
    const id = request?.message?.id;
    const busy = polled.get(world) ?? new Set();
    polled.set(world, busy);
    if (id === undefined || busy.has(id)) return;
    busy.add(id);
    let before = "queued";
    for (let left = dice.between(1, 4); left > 0; left--) {
      const answer = await clients.ask((engine) => engine.messages.get(id));
      const isErased =
        request?.message !== undefined && world.history.isErased(request.message.contact_id);
      if (answer.kind === "refused" && !isErased) {
        world.report(
          laws.acknowledgedIsStored,
          [id],
          `message ${id} was acknowledged, but reading it was refused as ${answer.code}`,
        );
      }
      if (answer.kind === "done") {
        const { status } = answer.value;
        if (statusRank(status) < statusRank(before) && !fallsBack(world.settings)) {
          world.report(
            laws.statusFromEvidence,
            [id],
            `message ${id} was ${before}, and later ${status}`,
          );
        }
        before = status;
      }
      await clock.sleep(dice.between(100, 20_000));
    }
    busy.delete(id);
  },
};

export const messageClients: readonly Actor[] = [canceler, editor, redactor, poller];
