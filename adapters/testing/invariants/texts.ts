import type { InboundMessage } from "../../../src/ports/index.ts";
import type { Message, Mode } from "../../entry.ts";
import { quoted } from "../world/story.ts";
import type { Finding, World } from "../world/types.ts";
import { allItems, eventsIn, fullPages, handleOf, messagesIn, scopesOf } from "./reads.ts";

/** What engines have stored, of all accounts. */
interface Stored {
  readonly inbound: readonly Message[];
  readonly senders: readonly Sender[];
  /** The messages of an erased contact are gone. */
  readonly hasErasures: boolean;
}

interface Sender {
  readonly address: string;
  readonly transport: string;
  readonly mode: Mode;
}

export async function everyTextOnce(world: World): Promise<Finding | undefined> {
  const { inbound, senders, hasErasures } = await readStored(world);
  // The transports of one carrier share its texts.
  for (const [texts, carriers] of Map.groupBy(world.carriers, (carrier) => carrier.texts)) {
    const names = new Set<string | null>(carriers.map(({ name }) => name));
    const ofCarrier = ({ transport }: Pick<Message, "transport">): boolean => names.has(transport);
    const [own, ownSenders] = [inbound.filter(ofCarrier), senders.filter(ofCarrier)];
    for (const text of texts) {
      const made = own.filter(
        ({ provider_message_id }) => provider_message_id === text.provider_message_id,
      );
      const mustExist = !hasErasures && ownSenders.some((each) => isFor(world, text, each));
      const description = problemOf(text, made, mustExist);
      if (description !== undefined) return { description, about: made.map(({ id }) => id) };
    }
  }
  return undefined;
}

async function readStored(world: World): Promise<Stored> {
  const inbound: Message[] = [];
  const senders: Sender[] = [];
  let hasErasures = false;
  for (const scope of await scopesOf(world)) {
    const messages = await messagesIn(world, scope);
    inbound.push(...messages.filter(({ direction }) => direction === "inbound"));
    const handle = handleOf(world, scope);
    const own = await allItems(handle.senders.list(fullPages));
    senders.push(
      ...own.map(({ address, transport }) => ({ address, transport, mode: scope.mode })),
    );
    const events = await eventsIn(world, scope);
    hasErasures ||= events.some(({ type }) => type === "contact.erased");
  }
  return { inbound, senders, hasErasures };
}

/** In sandbox mode, a carrier knows the account of a text only if it answers a message. */
function isFor(world: World, { from, to, at }: InboundMessage, { address, mode }: Sender): boolean {
  const isAnswer = world.calls.some(
    (call) => call.message.to === from && call.message.from === to && call.at <= at,
  );
  return address === to && (mode === "live" || isAnswer);
}

function problemOf(
  text: InboundMessage,
  [first, ...others]: readonly Message[],
  mustExist: boolean,
): string | undefined {
  const what = `the text ${quoted(text.body)} from ${text.from} to ${text.to}`;
  if (first === undefined) return mustExist ? `${what} is not stored` : undefined;
  if (others.length > 0) return `${what} is stored ${others.length + 1} times`;
  const { id, from, to, body, media } = first;
  const isRedacted = body === null;
  // Storages hold no lone surrogates and no NUL.
  const expected = text.body.toWellFormed().replaceAll("\0", "");
  const isSame =
    from === text.from &&
    to === text.to &&
    (isRedacted || (body === expected && media.length === text.media.length));
  const stored = `${quoted(body ?? "")} from ${from} to ${to} with ${media.length} files`;
  return isSame ? undefined : `${what} is stored as ${stored}: ${id}`;
}
