import type { Message, SendMessage } from "../../../src/index.ts";
import { senders } from "../../../src/senders/rows.ts";
import type { SendRequest } from "../clients.ts";
import { laws } from "../invariant.ts";
import type { ApiCall } from "../operators.ts";
import { allRows } from "../rows.ts";
import { drawLimits, senderAddresses } from "../settings.ts";
import type { World } from "../world.ts";
import type { Actor } from "./actor.ts";

function draft(world: World, to: string): SendMessage {
  const { dice, clients, words } = world;
  const body = `text of send ${clients.requests.length + 1}, ${words.next()}`;
  return {
    to,
    // Now and then one letter too long for a single segment.
    body: dice.chance(0.03) ? body.padEnd(161, ".") : body,
    ...(dice.chance(0.2) ? { from: dice.pick(senderAddresses) } : {}),
    ...(dice.chance(0.15) ? { ttl_seconds: dice.between(1, 120) } : {}),
    ...(dice.chance(0.2) ? { category: "marketing" } : {}),
    ...(dice.chance(0.1) ? { metadata: { about: words.next() } } : {}),
  };
}

/** A phone number, or the contact that it belongs to. */
function pickRecipient(world: World): string {
  const { dice, clients, phones } = world;
  const phone = phones.pick(dice);
  const known = clients.requests.find(({ message }) => message?.to === phone)?.message?.contact_id;
  return known !== undefined && dice.chance(0.3) ? known : phone;
}

type SendCall = ApiCall<Message>;

async function sendWithKey(
  world: World,
  request: SendRequest,
  call: SendCall,
  idempotencyKey: string,
): Promise<void> {
  const { clients } = world;
  const { to } = request.input;
  const answer = await clients.askUntilAnswered(
    (engine) => call(engine, { idempotencyKey }),
    to === undefined ? [] : [to],
  );
  if (answer.kind === "done") clients.recordAnswer(request, answer.value);
  else clients.recordRefusal(request, answer);
}

async function sendOnce(world: World, request: SendRequest, call: SendCall): Promise<void> {
  const { clients } = world;
  const answer = await clients.ask((engine) => call(engine, {}));
  if (answer.kind === "done") clients.recordAnswer(request, answer.value);
  else if (answer.kind === "refused") clients.recordRefusal(request, answer);
  else {
    request.unknown = true;
    clients.noteAnswer(request, answer);
  }
}

/** Sends another message under the key of one that was sent. */
async function reuseKey(world: World, sent: Message, idempotencyKey: string): Promise<void> {
  const { clients, words } = world;
  const input: SendMessage = { to: sent.contact_id, body: `another text, ${words.next()}` };
  const answer = await clients.askUntilAnswered((engine) =>
    engine.messages.send(input, { idempotencyKey }),
  );
  if (answer.kind === "refused") return;
  const description = `another message under the key of ${sent.id} was answered with ${answer.value.id}`;
  world.report(laws.sameAnswerPerKey, [sent.id], description);
}

/**
 * Sends a message: either once without an idempotency key, or under a key until it is answered.
 * Some clients send twice at the same time under the key, or again later.
 */
export async function sendMessage(
  world: World,
  input: SendMessage,
  call: SendCall = (engine, options) => engine.messages.send(input, options),
): Promise<SendRequest> {
  const { dice, clients } = world;
  const key = dice.chance(0.3) ? null : clients.nextKey();
  const request = clients.record(input, key);
  if (key === null) {
    await sendOnce(world, request, call);
    return request;
  }
  const twice = dice.chance(0.15) ? [sendWithKey(world, request, call, key)] : [];
  await Promise.all([sendWithKey(world, request, call, key), ...twice]);
  if (dice.chance(0.2)) await sendWithKey(world, request, call, key);
  if (request.message !== undefined && dice.chance(0.1)) {
    await reuseKey(world, request.message, key);
  }
  return request;
}

const sender: Actor = {
  does: "A client sends a message.",
  group: "sending",
  weight: 8,
  async act(world) {
    await sendMessage(world, draft(world, pickRecipient(world)));
  },
};

const roundMs = 30_000;

const scheduler: Actor = {
  does: "A client schedules a message.",
  group: "sending",
  weight: 5,
  async act(world) {
    const { dice, clock } = world;
    const ahead = dice.chance(0.15) ? -dice.between(0, 60_000) : dice.between(500, 240_000);
    const at = clock.now() + ahead;
    // Many messages are due at a round time.
    const send_at = new Date(dice.chance(0.4) ? Math.ceil(at / roundMs) * roundMs : at);
    await sendMessage(world, {
      ...draft(world, pickRecipient(world)),
      send_at: send_at.toISOString(),
    });
  },
};

/** When the quiet hours of contacts without a time zone begin today, if that is still to come. */
function startOfQuietHours({ clock, settings: { quietHours } }: World): number | undefined {
  if (quietHours === undefined) return undefined;
  const today = new Date(clock.now()).toISOString().slice(0, "2026-01-01".length);
  const start = Date.parse(`${today}T${quietHours.from}:00.000Z`);
  return start > clock.now() ? start : undefined;
}

const marketer: Actor = {
  does: "A client schedules a marketing message for the minute in which the quiet hours begin.",
  group: "sending",
  weight: 1,
  async act(world) {
    const start = startOfQuietHours(world);
    if (start === undefined) return;
    const send_at = new Date(start).toISOString();
    const to = pickRecipient(world);
    await sendMessage(world, { ...draft(world, to), category: "marketing", send_at });
  },
};

const burstSender: Actor = {
  does: "A client sends several messages to one recipient, in parallel or one after another.",
  group: "sending",
  weight: 3,
  async act(world) {
    const { dice } = world;
    const to = pickRecipient(world);
    const count = dice.between(2, 4);
    const isSequential = dice.chance(0.5);
    const all: Promise<SendRequest>[] = [];
    for (let i = 0; i < count; i++) {
      const sent = sendMessage(world, draft(world, to));
      if (isSequential) await sent;
      else all.push(sent);
    }
    await Promise.all(all);
  },
};

const batchSender: Actor = {
  does: "A client sends a batch of up to three messages, perhaps twice under one key.",
  group: "sending",
  weight: 1.5,
  async act(world) {
    const { dice, clients } = world;
    const key = clients.nextKey();
    const requests = Array.from({ length: dice.between(1, 3) }, () =>
      clients.record(draft(world, pickRecipient(world)), null),
    );
    const times = dice.chance(0.3) ? 2 : 1;
    for (let i = 0; i < times; i++) {
      const messages = requests.map(({ input }) => input);
      const answer = await clients.askUntilAnswered((engine) =>
        engine.messages.batch({ messages }, { idempotencyKey: key }),
      );
      if (answer.kind === "refused") {
        return requests.forEach((request) => clients.recordRefusal(request, answer));
      }
      for (const result of answer.value.data) {
        const request = requests[result.index];
        if (request === undefined) {
          world.report(
            laws.sameAnswerPerKey,
            [],
            `a batch of ${requests.length} messages returned a result for index ${result.index}`,
          );
        } else if (result.ok) clients.recordAnswer(request, result.message);
        else clients.recordRefusal(request, result);
      }
    }
  },
};

const limiter: Actor = {
  does: "An administrator changes the limits of a sender, while messages may wait for it.",
  group: "sending",
  weight: 0.8,
  async act(world) {
    const { dice, database, operators, settings } = world;
    const [address] = senderAddresses;
    const id = allRows(database, senders).find((each) => each.address === address)?.id;
    if (!settings.changesLimits || id === undefined) return;
    const limits = drawLimits(dice, 0.7, 0.1);
    await operators.request(
      `limit ${address} to ${JSON.stringify(limits)}`,
      [],
      (engine, options) => engine.senders.update(id, limits, options),
    );
  },
};

export const messageSenders: readonly Actor[] = [
  sender,
  scheduler,
  marketer,
  burstSender,
  batchSender,
  limiter,
];
