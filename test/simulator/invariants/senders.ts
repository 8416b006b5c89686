import { identities } from "../../../src/contacts/rows.ts";
import {
  attempts,
  type AttemptRow,
  attemptsOfMessage,
  messageById,
  messages,
} from "../../../src/messages/rows.ts";
import { defaultSenders, senderHandOvers, senders } from "../../../src/senders/rows.ts";
import { rankSenders } from "../../../src/senders/choose-sender.ts";
import type { SenderId } from "../../../src/kernel/ids.ts";
import type { StoragePort, Write } from "../../../src/ports/storage.ts";
import type { Invariant } from "../invariant.ts";
import { allRows, insertedRows, readRows, removedIds, writtenRows } from "../rows.ts";
import { fallsBack, primaryTransport, senderAddresses } from "../settings.ts";
import { surelyNotSent } from "./carrier-calls.ts";

const dayMs = 86_400_000;

/** A rate that is no whole number allows one message at a time. */
const windowOf = (rate: number): { readonly max: number; readonly windowMs: number } =>
  Number.isInteger(rate) ? { max: rate, windowMs: 1_000 } : { max: 1, windowMs: 1_000 / rate };

export const rateLimited: Invariant = {
  name: "No sender exceeds its rate or its daily cap in any window of time.",
  check: ({ clock, database, clocksDiffer }) => {
    const [address] = senderAddresses;
    let limits: readonly { readonly max: number; readonly windowMs: number }[] = [];
    let setAt = -Infinity;
    const toleranceMs = clocksDiffer ? 15_000 : 0;
    /** The hand-overs since the limits were set. */
    let times: number[] = [];
    return {
      *commit(engine, writes) {
        // A commit that sets the limits may also hand messages over, before or after.
        const isSet = writtenRows(writes, senders).some((each) => each.address === address);
        const all = insertedRows(writes, attempts).filter(({ account_id, mode, message_id }) =>
          readRows(database, messageById, [account_id, mode, message_id]).some(
            ({ from }) => from === address,
          ),
        );
        // A hand-over that began without limits and commits after they were set is counted only if
        // its transaction ran again.
        const made = all.filter(({ started_at }) => started_at > setAt + toleranceMs);
        const counted = insertedRows(writes, senderHandOvers);
        const about = made.map(({ message_id }) => message_id);
        const isCounted = counted.length >= made.length && counted.length <= all.length;
        if (limits.length > 0 && !isSet && !isCounted) {
          yield {
            about,
            description: `${engine} handed over ${made.length} messages from ${address}, but counted ${counted.length}`,
          };
        }
        // If clocks differ, the limit holds by the times that the engines count with.
        times.push(
          ...(clocksDiffer
            ? counted.map(({ at }) => at)
            : made.map(({ started_at }) => started_at)),
        );
        if (isSet) {
          if (limits.length === 0) setAt = clock.now();
          limits = limitsOf(database, address);
          times = [];
        }
        for (const { max, windowMs } of limits) {
          const most = Math.max(
            ...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length),
          );
          if (most > max) {
            yield {
              about,
              description: `${engine} exceeded the limit of ${max}: ${most} messages from ${address} within ${windowMs} ms`,
            };
          }
        }
      },
    };
  },
};

function limitsOf(database: StoragePort, address: string) {
  return allRows(database, senders)
    .filter((each) => each.address === address)
    .flatMap(({ messages_per_second: rate, daily_cap }) => [
      ...(rate === null ? [] : [windowOf(rate)]),
      ...(daily_cap === null ? [] : [{ max: daily_cap, windowMs: dayMs }]),
    ]);
}

export const oneTransportAtATime: Invariant = {
  name: "A message is handed over again only if its earlier attempts were refused, or failed as its route allows.",
  check: (world) => {
    /** The outcomes of attempts before the current commit. */
    const outcomes = new Map<string, string>();
    return {
      *commit(engine, writes) {
        const { database, settings } = world;
        for (const { message_id, number, account_id, mode } of insertedRows(writes, attempts)) {
          const [message] = readRows(database, messageById, [account_id, mode, message_id]);
          const route = settings.routes.find(
            ({ from }) => from?.includes(message?.from ?? "") ?? true,
          );
          const fallBackAfter = route?.fallBackAfter ?? [];
          // A message that fell back goes on when the carrier gives up an earlier attempt later.
          const givenUp = fallBackAfter.length > 0 ? ["undelivered"] : [];
          const allowed = new Set<string>(["rejected", ...givenUp, ...fallBackAfter]);
          const open = readRows(database, attemptsOfMessage, [message_id]).find(
            (each) =>
              each.number < number &&
              !allowed.has(each.outcome) &&
              // A later command of the same commit may have learned that the attempt was accepted.
              !allowed.has(outcomes.get(each.id) ?? ""),
          );
          if (open === undefined) continue;
          const description = `${engine} began attempt ${number} of ${message_id}, though attempt ${open.number} is ${open.outcome}`;
          yield { about: [message_id], description };
        }
        for (const { id, outcome } of writtenRows(writes, attempts)) outcomes.set(id, outcome);
      },
      *call({ message: { message_id }, number, transport, engine }) {
        if (fallsBack(world.settings)) return;
        const first = world.carrier
          .callsOf(message_id)
          .find((each) => each.transport !== transport && !surelyNotSent(world, each));
        if (first === undefined) return;
        const description = `${engine} handed ${message_id}, attempt ${number}, to ${transport}, though it may have been sent over ${first.transport}`;
        yield { about: [message_id], description };
      },
    };
  },
};

export const routeFollowed: Invariant = {
  name: "A message goes over the transports of its route in turn, and to none before its retry time.",
  check: ({ database, clocksDiffer, settings: { routes } }) => ({
    *commit(engine, writes) {
      for (const attempt of insertedRows(writes, attempts)) {
        const { account_id, mode, message_id, number, transport, started_at } = attempt;
        const [message] = readRows(database, messageById, [account_id, mode, message_id]);
        if (message === undefined || message.channel === "webchat") continue;
        const route = routes.find(({ from }) => from?.includes(message.from) ?? true);
        const transports = route?.transports ?? [primaryTransport];
        const earlier = readRows(database, attemptsOfMessage, [message_id]).filter(
          (each) => each.number < number,
        );
        const over = (name: string): AttemptRow[] =>
          earlier.filter((each) => each.transport === name);
        // A transport is usable unless it refused permanently, or may have the message.
        const isUsable = (name: string): boolean =>
          over(name).every(
            ({ outcome, error }) => outcome === "rejected" && error?.permanent !== true,
          );
        const untried = transports.find((name) => over(name).length === 0);
        const usable = transports.length === 1 ? transports : transports.filter(isUsable);
        const expected = untried === undefined ? usable : [untried];
        const notBefore = over(transport).at(-1)?.not_before ?? 0;
        const action = `${engine} handed ${message_id}, attempt ${number}, to ${transport}`;
        const about = [message_id];
        if (!expected.includes(transport)) {
          yield { about, description: `${action} instead of ${expected.join(" or ")}` };
        }
        if (!clocksDiffer && started_at < notBefore) {
          yield { about, description: `${action} ${notBefore - started_at} ms too early` };
        }
      }
    },
  }),
};

export const refusalsAreFinal: Invariant = {
  name: "A message that was refused for good does not go to that carrier again, and to none if the message is the reason.",
  check: ({ database }) => ({
    *commit(engine, writes) {
      for (const { message_id, number, transport } of insertedRows(writes, attempts)) {
        const [last] = readRows(database, attemptsOfMessage, [message_id, number - 1]);
        if (last?.outcome !== "rejected" || last.error?.permanent !== true) continue;
        // The carrier refuses messages with two codes. This one blames the message.
        if (last.transport !== transport && last.error.code !== "filtered") continue;
        const description = `${engine} handed ${message_id}, attempt ${number}, to ${transport}, though ${last.transport} refused it with ${last.error.code}`;
        yield { about: [message_id], description };
      }
    },
  }),
};

/** The ids of the live senders of texts in the pool, and of the default one. */
interface Pool {
  readonly phones: readonly SenderId[];
  readonly standard: SenderId | undefined;
}

function poolIn(database: StoragePort): Pool {
  const phones = allRows(database, senders).filter(
    ({ mode, channels, pool }) => pool && mode === "live" && channels.includes("sms"),
  );
  const standard = allRows(database, defaultSenders).find(
    ({ mode, channel }) => mode === "live" && channel === "sms",
  );
  return { phones: phones.map(({ id }) => id), standard: standard?.sender_id };
}

/** How old a read may be when an engine commits: stalls and delays together. */
const staleMs = 120_000;

export const senderChosen: Invariant = {
  name: "A contact keeps the sender it last had, and a new contact gets its sender of the pool.",
  check: ({ database, clients, clock }) => {
    /**
     * For each address, the last senders in order, and until when each was the last. The sender is
     * empty while an address has a new contact, which has none yet.
     */
    const lastSenders = new Map<string, { readonly sender: string; until: number }[]>();
    const addressOf = (id: string | null): string =>
      allRows(database, senders).find((each) => each.id === id)?.address ?? "";
    // The database may not be open yet, so nothing is read from it here.
    let pool: Pool = { phones: [], standard: undefined };
    const formerPools: { readonly pool: Pool; readonly until: number }[] = [];
    /** A command does not lock the pool that it reads, so it may write after a change. */
    const sendersForNew = (to: string): string[] => {
      const former = formerPools.filter(({ until }) => until > clock.now() - staleMs);
      return [pool, ...former.map((each) => each.pool)].map(({ phones, standard }) => {
        // Without senders in the pool, the default one sends.
        const [first = standard] = rankSenders(to, phones);
        return addressOf(first ?? null);
      });
    };
    /** For each contact, the last senders of its removed addresses, and when they were removed. */
    const removedSenders = new Map<string, { readonly sender: string; readonly until: number }[]>();
    /** The contact of each address. */
    const owners = new Map<string, string>();
    /** The addresses that get another contact, or their first one. */
    const newlyOwned = (writes: readonly Write[]): readonly string[] =>
      writtenRows(writes, identities)
        .filter(({ address, contact_id }) => owners.get(address) !== contact_id)
        .map(({ address }) => address);
    return {
      *commit(engine, writes) {
        if (
          writes.some(({ collection }) => collection === senders || collection === defaultSenders)
        ) {
          formerPools.push({ pool, until: clock.now() });
          pool = poolIn(database);
        }
        // One commit can replace a contact's address, write to the new one, and give the old one to
        // another contact.
        const newOwners = newlyOwned(writes);
        for (const address of [...removedIds(writes, identities), ...newOwners]) {
          const latest = lastSenders.get(address)?.at(-1);
          const owner = owners.get(address);
          if (latest === undefined || owner === undefined) continue;
          const others = removedSenders.get(owner) ?? [];
          removedSenders.set(owner, [...others, { sender: latest.sender, until: clock.now() }]);
        }
        const inserted = insertedRows(writes, messages);
        for (const { id, to, from, body, channel, contact_id } of inserted) {
          const request = clients.requests.find(({ input }) => input.body === body);
          const isAlone = inserted.every(
            (each) => each.id === id || ![each.to, each.from].includes(to),
          );
          if (
            channel === "webchat" ||
            request === undefined ||
            request.input.from !== undefined ||
            !isAlone
          ) {
            continue;
          }
          const recent = (lastSenders.get(to) ?? []).filter(
            ({ until }) => until > clock.now() - staleMs,
          );
          // One commit can erase a contact and create another one with the same address.
          const hasNone = recent.length === 0 || recent.at(-1)?.sender === "";
          const isNew = hasNone || newOwners.includes(to);
          // A command that read the address before it was removed writes for its old contact.
          const removed = removedSenders.get(contact_id) ?? [];
          const expected = [
            ...recent.map(({ sender }) => sender).filter((sender) => sender !== ""),
            ...removed
              .filter(({ until }) => until > clock.now() - staleMs)
              .map((each) => each.sender),
            ...(isNew ? sendersForNew(to) : []),
          ];
          if (expected.includes(from)) continue;
          yield {
            about: [id],
            description: `${engine} wrote to ${to} from ${from} instead of ${expected.join(" or ")}`,
          };
        }
        for (const { address, contact_id, last_sender_id } of writtenRows(writes, identities)) {
          const before = lastSenders.get(address) ?? [];
          const latest = before.at(-1);
          const sender = addressOf(last_sender_id);
          // One commit can erase a contact and create another one, which has no last sender yet.
          const hasNewOwner = owners.get(address) !== contact_id;
          owners.set(address, contact_id);
          const isSame = latest?.sender === sender && !hasNewOwner;
          if (isSame || (sender === "" && !hasNewOwner)) continue;
          if (latest !== undefined) latest.until = Math.min(latest.until, clock.now());
          else if (sender === "") continue;
          const earlier = before.filter((each) => each.sender !== "");
          lastSenders.set(address, [...earlier, { sender, until: Infinity }]);
        }
        for (const address of removedIds(writes, identities)) lastSenders.delete(address);
      },
    };
  },
};
