/** The ready commands that call the API of an engine. */
import type { MessagingEngine } from "../../entry.ts";
import { quoted } from "../world/story.ts";
import type { World } from "../world/types.ts";
import { arbitraries } from "./arbitraries.ts";
import {
  command,
  type Commands,
  type WithWorld,
  type WorldCommand,
  type WorldCommandOptions,
} from "./command.ts";
import { generatorsOf, type FastCheck } from "./types.ts";

/** Out of how many of the latest resources a command picks one. */
export const maxRecent = 8;
const maxWebhooks = 2;
/** How far ahead a message is scheduled, in milliseconds. */
const maxScheduledMs = 300_000;

type MessageCommands = Pick<Commands, "send" | "schedule" | "cancel" | "redact">;

export function messageCommands(fc: FastCheck): MessageCommands {
  const { integer, pair } = generatorsOf(fc);
  const { message } = arbitraries(fc);
  const nth = integer(0, maxRecent - 1);
  return {
    send: message.map((input) =>
      call(`send ${quoted(input.body)} to ${input.to}`, ({ messages }) => messages.send(input)),
    ),
    schedule: pair(message, integer(1, maxScheduledMs)).map(([input, ms]) =>
      call(`send ${quoted(input.body)} to ${input.to} in ${ms} ms`, ({ messages }, { clock }) =>
        messages.send({ ...input, send_at: new Date(clock.now() + ms).toISOString() }),
      ),
    ),
    cancel: nth.map((n) =>
      call(`cancel message ${n}`, async ({ messages }) =>
        withNth(await messages.list({ limit: maxRecent }), n, (id) => messages.cancel(id)),
      ),
    ),
    redact: nth.map((n) =>
      call(`redact message ${n}`, async ({ messages }) =>
        withNth(await messages.list({ limit: maxRecent }), n, (id) => messages.redact(id)),
      ),
    ),
  };
}

type ContactCommands = Pick<Commands, "createContact" | "setConsent" | "merge" | "erase">;

export function contactCommands(fc: FastCheck): ContactCommands {
  const { oneOf, pair } = generatorsOf(fc);
  const { phone, contact } = arbitraries(fc);
  const status = oneOf(["opted_out", "opted_in"] as const);
  return {
    createContact: contact.map((input) =>
      call(`create ${JSON.stringify(input)}`, ({ contacts }) => contacts.create(input)),
    ),
    setConsent: pair(phone, status).map(([number, to]) =>
      call(`set the consent of ${number} to ${to}`, (engine) =>
        withContact(engine, number, (id) => engine.contacts.setConsent(id, "text", { status: to })),
      ),
    ),
    merge: pair(phone, phone).map(([survivor, other]) =>
      call(
        `merge ${other} into ${survivor}`,
        (engine) =>
          withContact(engine, survivor, (kept) =>
            withContact(engine, other, async (id) =>
              kept === id ? undefined : engine.contacts.merge(kept, id),
            ),
          ),
        // Another command may have erased the other contact.
        { expects: ["validation_failed"] },
      ),
    ),
    erase: phone.map((number) =>
      call(`erase the contact of ${number}`, (engine) =>
        withContact(engine, number, (id) => engine.contacts.erase(id)),
      ),
    ),
  };
}

type InboxCommands = Pick<Commands, "reply" | "close" | "createWebhook">;

export function inboxCommands(fc: FastCheck): InboxCommands {
  const { integer, pair } = generatorsOf(fc);
  const { text } = arbitraries(fc);
  const nth = integer(0, maxRecent - 1);
  return {
    reply: pair(nth, text).map(([n, body]) =>
      call(`reply ${quoted(body)} in conversation ${n}`, async ({ conversations }) =>
        withNth(await conversations.list({ limit: maxRecent }), n, (id) =>
          conversations.reply(id, { body }),
        ),
      ),
    ),
    close: nth.map((n) =>
      call(`close conversation ${n}`, async ({ conversations }) =>
        withNth(await conversations.list({ limit: maxRecent }), n, (id) =>
          conversations.update(id, { status: "closed" }),
        ),
      ),
    ),
    createWebhook: integer(1, maxWebhooks).map((n) =>
      call(`create webhook ${n}`, async ({ webhooks }, { receiver }) => {
        const { data } = await webhooks.list({ limit: maxWebhooks });
        if (data.length === maxWebhooks) return;
        const url = `https://webhook-${n}.example/`;
        receiver.trust(await webhooks.create({ url, events: ["*"] }));
      }),
    ),
  };
}

function call(
  name: string,
  code: (engine: MessagingEngine, world: World) => Promise<unknown>,
  options?: WorldCommandOptions,
): WorldCommand<WithWorld> {
  return command(name, ({ world }, engine) => code(engine, world), options);
}

async function withContact(
  { contacts }: MessagingEngine,
  phone: string,
  act: (id: string) => Promise<unknown>,
): Promise<unknown> {
  return withNth(await contacts.list({ phone }), 0, act);
}

/**
 * Acts on the `n`-th of the listed resources, counted in a circle. Does nothing if there is none.
 */
async function withNth(
  { data }: { readonly data: readonly { readonly id: string }[] },
  n: number,
  act: (id: string) => Promise<unknown>,
): Promise<unknown> {
  const found = data[n % Math.max(1, data.length)];
  return found === undefined ? undefined : act(found.id);
}
