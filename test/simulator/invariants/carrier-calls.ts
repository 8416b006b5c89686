import type { CarrierCall } from "../../../adapters/testing/index.ts";
import { maxDelayMs, maxSkewMs } from "../../../adapters/testing/world/faults.ts";
import { callDeadlineMs } from "../../../src/messages/hand-over/call-carrier.ts";
import {
  attemptById,
  attempts,
  messageById,
  timelineById,
  type AttemptRow,
} from "../../../src/messages/rows.ts";
import type { Invariant } from "../invariant.ts";
import { insertedRows, readRows } from "../rows.ts";
import { fallsBack } from "../settings.ts";
import type { World } from "../world.ts";

/**
 * Whether the carrier refused the call, or reported in a look-up that it was not sent. Only then
 * may the message be sent again, or over another transport.
 */
export function surelyNotSent(
  { carrier }: World,
  { attempt_id, provider_message_id }: CarrierCall,
): boolean {
  return provider_message_id === null || carrier.denied.has(attempt_id);
}

export const sentAtMostOnce: Invariant = {
  name: "A message is handed to the carrier again only if no earlier attempt can have been sent.",
  check: (world) => ({
    *call({ attempt_id, number, message, engine, transport, wasDenied }) {
      const mayFallBack = fallsBack(world.settings);
      const id = message.message_id;
      const earlier = world.carrier.callsOf(id);
      const open = earlier.find(
        (each) =>
          each.attempt_id === attempt_id ||
          (!surelyNotSent(world, each) && !(mayFallBack && each.transport !== transport)),
      );
      if (open !== undefined) {
        const description = `${engine} called the carrier with ${id}, attempt ${number}, though attempt ${open.number} may have been sent`;
        yield { about: [id], description };
      }
      if (wasDenied) {
        yield {
          about: [id],
          description: `attempt ${number} of ${id} was looked up before its call could have ended`,
        };
      }
    },
    async end() {
      const sent = new Map<string, number>();
      const mayFallBack = fallsBack(world.settings);
      for (const { message, transport, provider_message_id } of world.carrier.calls) {
        const id = mayFallBack ? `${message.message_id} over ${transport}` : message.message_id;
        if (provider_message_id !== null) sent.set(id, (sent.get(id) ?? 0) + 1);
      }
      const twice = [...sent].filter(([, times]) => times > 1);
      return twice.map(([id, times]) => ({
        about: [id.split(" ")[0] ?? ""],
        description: `the carrier sent message ${id} ${times} times`,
      }));
    },
  }),
};

export const attemptRecordedBeforeCall: Invariant = {
  name: "An attempt is committed before the carrier is called.",
  check: () => {
    /** Kept after an erasure, since a call may still be under way then. */
    const recorded = new Map<string, AttemptRow>();
    return {
      commit(_engine, writes) {
        for (const row of insertedRows(writes, attempts)) recorded.set(row.id, row);
        return [];
      },
      *call({ attempt_id, number, message, engine }) {
        const row = recorded.get(attempt_id);
        if (row === undefined || row.message_id !== message.message_id || row.number !== number) {
          const description = `${engine} called the carrier with ${message.message_id}, attempt ${number}, which is not committed`;
          yield { about: [message.message_id], description };
        }
      },
    };
  },
};

export const calledUnderLease: Invariant = {
  name: "The carrier is called only while enough of the lease is left for the call.",
  check: ({ database, clock, clocksDiffer }) => ({
    *call({ attempt_id, number, message, engine }) {
      const [attempt] = readRows(database, attemptById, [attempt_id]);
      // An attempt is removed by an erasure, whose message was handed over before.
      if (clocksDiffer || attempt === undefined) return;
      const latest = attempt.leased_until - callDeadlineMs + maxDelayMs.carrierCall;
      if (clock.now() > latest) {
        const description = `${engine} called the carrier with ${message.message_id}, attempt ${number}, at ${iso(clock.now())} under a lease until ${iso(attempt.leased_until)}`;
        yield { about: [message.message_id], description };
      }
    },
  }),
};

export const sentWithinItsTime: Invariant = {
  name: "A message is handed over neither before its send time nor after it has expired.",
  check: ({ database, clients, clocksDiffer }) => ({
    *call({ attempt_id, message: { message_id } }) {
      const [attempt] = readRows(database, attemptById, [attempt_id]);
      const request = clients.requests.find((each) => each.message?.id === message_id);
      if (attempt === undefined || request?.message === undefined) return;
      const { send_at, ttl_seconds = 4 * 3_600 } = request.input;
      const requested = [send_at, ...request.edits.map((edit) => edit.send_at)].filter(
        (each) => each !== undefined,
      );
      const times = requested.map((each) => Date.parse(each));
      const created = Date.parse(request.message.created_at);
      const earliest = Math.min(...(times.length > 0 ? times : [created]));
      // Clocks differ, and are set, by some seconds.
      const toleranceMs = clocksDiffer ? 2 * maxSkewMs + 10_000 : 0;
      // Between the hand-over and the call's arrival, the clock may be set by more than that.
      const { started_at } = attempt;
      const key = [attempt.account_id, attempt.mode, message_id];
      const timeline = readRows(database, timelineById, key);
      // Once a message is queued, the clock may be set back to before its send time.
      const queuedAt = timeline.map(({ led_to, at }) => (led_to === "queued" ? at : 0));
      if (send_at !== undefined && Math.max(started_at, ...queuedAt) < earliest - toleranceMs) {
        yield {
          about: [message_id],
          description: `${message_id} was due at ${iso(earliest)} and was handed over at ${iso(started_at)}`,
        };
      }
      const [row] = readRows(database, messageById, key);
      // A policy that defers a message also extends its time to live.
      const isDeferred = timeline.some(
        ({ entry }) => entry?.type === "policy" && entry.verdict === "defer",
      );
      const latest = isDeferred
        ? (row?.expires_at ?? Infinity)
        : Math.max(created, ...times) + ttl_seconds * 1_000;
      if (started_at > latest + toleranceMs) {
        yield {
          about: [message_id],
          description: `${message_id} expired at ${iso(latest)} and was handed over at ${iso(started_at)}`,
        };
      }
    },
  }),
};

export const contentAsRequested: Invariant = {
  name: "The carrier gets the sender, the recipient and the text that the client gave.",
  check: ({ clients }) => ({
    *call({ message: { message_id, body, from, to } }) {
      const request = clients.requests.find((each) => each.message?.id === message_id);
      if (request?.message === undefined) return;
      const bodies = [request.input.body];
      for (const edit of request.edits) {
        if (edit.body === undefined || edit.state === "refused") continue;
        if (edit.state === "acknowledged") bodies.length = 0;
        bodies.push(edit.body);
      }
      if (!bodies.includes(body)) {
        yield {
          about: [message_id],
          description: `the carrier got "${body}" for ${message_id} instead of "${bodies.join('" or "')}"`,
        };
      }
      const sender = request.input.from ?? request.message.from;
      if (from !== sender) {
        yield {
          about: [message_id],
          description: `${message_id} from ${sender} was sent from ${from}`,
        };
      }
      if (to !== request.message.to) {
        yield {
          about: [message_id],
          description: `${message_id} to ${request.message.to} was sent to ${to}`,
        };
      }
    },
  }),
};

export const canceledOrSent: Invariant = {
  name: "A message is either canceled or sent, never both.",
  check: (world) => {
    const { clients, carrier, settings } = world;
    return {
      *call({ message: { message_id }, number }) {
        const request = clients.requests.find((each) => each.message?.id === message_id);
        if (request?.cancel === "acknowledged") {
          yield {
            about: [message_id],
            description: `the carrier was called with ${message_id}, attempt ${number}, after it was canceled`,
          };
        }
      },
      async end() {
        // A message can be canceled between an attempt that was lost and the next one.
        if (fallsBack(settings)) return [];
        const canceled = clients.requests.filter(({ cancel }) => cancel === "acknowledged");
        return canceled.flatMap(({ message }) => {
          const id = message?.id ?? "";
          const sent = carrier
            .callsOf(id)
            .find(({ provider_message_id }) => provider_message_id !== null);
          return sent === undefined
            ? []
            : [{ about: [id], description: `${id} was canceled, but the carrier sent it` }];
        });
      },
    };
  },
};

const iso = (ms: number): string => new Date(ms).toISOString();
