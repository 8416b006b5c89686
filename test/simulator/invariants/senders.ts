import {
  attempts,
  attemptsOfMessage,
  messageById,
  type AttemptRow,
} from "../../../src/messages/rows.ts";
import type { StoragePort } from "../../../src/ports/storage.ts";
import { senderHandOvers, senders } from "../../../src/senders/rows.ts";
import type { Invariant } from "../invariant.ts";
import { allRows, handOvers, insertedRows, readRows, writtenRows } from "../rows.ts";
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
        const all = handOvers(database, writes)
          .filter(({ message }) => message.from === address)
          .map(({ attempt }) => attempt);
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
      for (const { attempt, message } of handOvers(database, writes)) {
        if (message.channel === "webchat") continue;
        const { message_id, number, transport, started_at } = attempt;
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
