import { identities, type IdentityRow } from "../../../src/contacts/rows.ts";
import {
  attempts,
  type AttemptRow,
  attemptsOfMessage,
  messageById,
  messages,
  type MessageRow,
} from "../../../src/messages/rows.ts";
import { orderFor } from "../../../src/senders/rules.ts";
import { type HandOverRow, senderHandOvers, senders } from "../../../src/senders/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { senderAddresses } from "../actors/senders.ts";
import type { CarrierCall } from "../carrier.ts";
import type { Invariant } from "../invariant.ts";
import { carrierName } from "../line.ts";
import { allOf, peek } from "../rows.ts";
import type { World } from "../world.ts";

function written<R>(
  writes: readonly Write[],
  to: Write["collection"],
  kinds: readonly Write["kind"][],
): R[] {
  return writes.flatMap((write) =>
    write.collection === to && kinds.includes(write.kind) && "row" in write
      ? [write.row as unknown as R]
      : [],
  );
}

const dayMs = 86_400_000;

export const paced: Invariant = {
  name: "no sender is over its pace in any stretch of time",
  watch: ({ ground, isSkewed, terms: { pace } }) => {
    const [address] = senderAddresses;
    const { messages_per_second: rate, daily_cap } = pace;
    const aSecond =
      rate == null ? [] : [{ most: Math.max(rate, 1), within: rate < 1 ? 1_000 / rate : 1_000 }];
    const aDay = daily_cap == null ? [] : [{ most: daily_cap, within: dayMs }];
    const bounds = [...aSecond, ...aDay];
    const times: number[] = [];
    return {
      *commit(engine, writes) {
        if (bounds.length === 0) return;
        const made = written<AttemptRow>(writes, attempts, ["insert"]).filter(
          ({ account_id, mode, message_id }) =>
            peek(ground, messageById, [account_id, mode, message_id]).some(
              ({ from }) => from === address,
            ),
        );
        const counted = written<HandOverRow>(writes, senderHandOvers, ["insert"]);
        const about = made.map(({ message_id }) => message_id);
        if (made.length !== counted.length) {
          yield {
            about,
            says: `${engine} handed over ${made.length} from ${address} and counted ${counted.length}`,
          };
        }
        // Where the engines' clocks differ, only what they count by can be compared.
        times.push(
          ...(isSkewed ? counted.map(({ at }) => at) : made.map(({ started_at }) => started_at)),
        );
        for (const { most, within } of bounds) {
          const fullest = Math.max(
            ...times.map((from) => times.filter((at) => at >= from && at < from + within).length),
          );
          if (fullest > most) {
            yield {
              about,
              says: `${engine} handed over from ${address}, ${fullest} times within ${within} ms`,
            };
          }
        }
      },
    };
  },
};

/** Only then may another line have it. */
function surelyNotSent(
  { carrier }: World,
  { attempt_id, provider_message_id }: CarrierCall,
): boolean {
  return provider_message_id === null || carrier.denied.has(attempt_id);
}

export const oneLine: Invariant = {
  name: "no second transport while the first may have it",
  watch: (world) => ({
    *call({ message: { message_id }, number, transport, engine }) {
      const first = world.carrier
        .callsOf(message_id)
        .find((each) => each.transport !== transport && !surelyNotSent(world, each));
      if (first === undefined) return;
      const says = `${engine} called with ${message_id} over ${transport}, attempt ${number}, and ${first.transport} may have it`;
      yield { about: [message_id], says };
    },
  }),
};

export const routed: Invariant = {
  name: "messages go over the lines of their route, in turn, and to none before it asked to have them",
  watch: ({ ground, isSkewed, terms: { routes } }) => ({
    *commit(engine, writes) {
      for (const attempt of written<AttemptRow>(writes, attempts, ["insert"])) {
        const { account_id, mode, message_id, number, transport, started_at } = attempt;
        const [message] = peek(ground, messageById, [account_id, mode, message_id]);
        if (message === undefined || message.channel === "webchat") continue;
        const route = routes.find(({ from }) => from?.includes(message.from) ?? true);
        const lines = route?.transports ?? [carrierName];
        const earlier = peek(ground, attemptsOfMessage, [message_id]).filter(
          (each) => each.number < number,
        );
        const over = (line: string): AttemptRow[] =>
          earlier.filter((each) => each.transport === line);
        const last = earlier.at(-1);
        // One whose answer was lost is passed over, unless it is found not to have had the message, or the only one.
        const isLeft = (line: string): boolean =>
          over(line).every((each) =>
            each.outcome === "rejected" ? each.error?.permanent !== true : each === last,
          );
        const untried = lines.find((line) => over(line).length === 0);
        const left = lines.length === 1 ? lines : lines.filter(isLeft);
        const expected = untried === undefined ? left : [untried];
        const asked = over(transport).at(-1)?.not_before ?? 0;
        const hands = `${engine} hands over ${message_id}, attempt ${number}, to ${transport}`;
        const about = [message_id];
        if (!expected.includes(transport)) {
          yield { about, says: `${hands} and not to ${expected.join(" or ")}` };
        }
        if (!isSkewed && started_at < asked) {
          yield { about, says: `${hands} ${asked - started_at} ms too soon` };
        }
      }
    },
  }),
};

/** How long what an engine read may be old when it commits: stalls and delays together. */
const staleMs = 120_000;

export const sticky: Invariant = {
  name: "a contact is written to by the sender that it knows, else by its own of the pool",
  watch: ({ ground, clients, clock, terms: { hasPool } }) => {
    /** Who wrote to an address, or was written to from there, and until when that was the last. */
    const known = new Map<string, { readonly sender: string; until: number }[]>();
    const addressOf = (id: string | null): string =>
      allOf(ground, senders).find((each) => each.id === id)?.address ?? "";
    const fresh = (to: string): string => {
      const phones = allOf(ground, senders).filter(
        ({ mode, channels }) => mode === "live" && channels.includes("sms"),
      );
      const [first] = orderFor(
        to,
        phones.map(({ id }) => id),
      );
      return hasPool
        ? addressOf(first ?? null)
        : (phones.find((each) => each.default)?.address ?? "");
    };
    return {
      *commit(engine, writes) {
        const inserted = written<MessageRow>(writes, messages, ["insert"]);
        for (const { id, to, from, body, channel } of inserted) {
          const order = clients.orders.find(({ input }) => input.body === body);
          const isAlone = inserted.every(
            (each) => each.id === id || ![each.to, each.from].includes(to),
          );
          if (
            channel === "webchat" ||
            order === undefined ||
            order.input.from !== undefined ||
            !isAlone
          ) {
            continue;
          }
          const recent = (known.get(to) ?? []).filter(({ until }) => until > clock.now() - staleMs);
          const expected = recent.length > 0 ? recent.map(({ sender }) => sender) : [fresh(to)];
          if (expected.includes(from)) continue;
          yield {
            about: [id],
            says: `${engine} writes to ${to} from ${from}, and not from ${expected.join(" or ")}`,
          };
        }
        for (const { address, last_sender_id } of written<IdentityRow>(writes, identities, [
          "insert",
          "update",
        ])) {
          const before = known.get(address) ?? [];
          const latest = before.at(-1);
          const sender = addressOf(last_sender_id);
          if (sender === "" || latest?.sender === sender) continue;
          if (latest !== undefined) latest.until = clock.now();
          known.set(address, [...before, { sender, until: Infinity }]);
        }
        for (const write of writes) {
          // What was known of an address goes with its contact.
          if (write.collection === identities && write.kind === "remove") {
            known.delete(String(write.key.at(-1)));
          }
        }
      },
    };
  },
};
