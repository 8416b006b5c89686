import {
  attemptById,
  type AttemptRow,
  attempts,
  messageById,
  timelineById,
} from "../../../src/messages/rows.ts";
import type { CarrierCall } from "../carrier.ts";
import type { Invariant } from "../invariant.ts";
import { peek } from "../rows.ts";
import type { World } from "../world.ts";

/** The carrier refused it, or said in a look-up that it never had it: only then may the message go out again. */
function surelyNotSent(
  { carrier }: World,
  { attempt_id, provider_message_id }: CarrierCall,
): boolean {
  return provider_message_id === null || carrier.denied.has(attempt_id);
}

export const atMostOnce: Invariant = {
  name: "no second call unless the first surely was not sent",
  watch: (world) => ({
    *call({ attempt_id, number, message, engine, wasDenied }) {
      const id = message.message_id;
      const earlier = world.carrier.callsOf(id);
      const open = earlier.find(
        (each) => !surelyNotSent(world, each) || each.attempt_id === attempt_id,
      );
      if (open !== undefined) {
        const says = `${engine} called the carrier with ${id}, attempt ${number}, while attempt ${open.number} may have been sent`;
        yield { about: [id], says };
      }
      if (wasDenied) {
        yield {
          about: [id],
          says: `attempt ${number} of ${id} was looked up before its call could be over`,
        };
      }
    },
    async end() {
      const sent = new Map<string, number>();
      for (const { message, provider_message_id } of world.carrier.calls) {
        if (provider_message_id !== null) {
          sent.set(message.message_id, (sent.get(message.message_id) ?? 0) + 1);
        }
      }
      const twice = [...sent].filter(([, times]) => times > 1);
      return twice.map(([id, times]) => ({
        about: [id],
        says: `message ${id} went out ${times} times`,
      }));
    },
  }),
};

export const onRecord: Invariant = {
  name: "every call was on record before it was made",
  watch: () => {
    /** One that was erased since may still leave within its attempt's time. */
    const recorded = new Map<string, AttemptRow>();
    return {
      commit(_engine, writes) {
        for (const write of writes) {
          if (write.collection !== attempts || write.kind !== "insert") continue;
          const row = write.row as unknown as AttemptRow;
          recorded.set(row.id, row);
        }
        return [];
      },
      *call({ attempt_id, number, message, engine }) {
        const row = recorded.get(attempt_id);
        if (row === undefined || row.message_id !== message.message_id || row.number !== number) {
          const says = `${engine} called the carrier with ${message.message_id}, attempt ${number}, which is not on record`;
          yield { about: [message.message_id], says };
        }
      },
    };
  },
};

/** How far an engine may be behind when it calls: stalls, its clock, and steps of the clock. */
const slackMs = 120_000;

export const inItsTime: Invariant = {
  name: "nothing is handed over before its time or after it",
  watch: ({ ground, clients, clock, faults: { skewMs } }) => ({
    *call({ attempt_id, message: { message_id } }) {
      const [attempt] = peek(ground, attemptById, [attempt_id]);
      const order = clients.orders.find((each) => each.message?.id === message_id);
      if (attempt === undefined || order?.message === undefined) return;
      const { send_at, ttl_seconds = 4 * 3_600 } = order.input;
      const asked = [send_at, ...order.edits.map((edit) => edit.send_at)].filter(
        (each) => each !== undefined,
      );
      const times = asked.map((each) => Date.parse(each));
      const created = Date.parse(order.message.created_at);
      const earliest = Math.min(...(times.length > 0 ? times : [created]));
      // Steps of the clock are seconds, and so is the difference between two engines' clocks.
      const blur = skewMs > 0 ? 2 * skewMs + 10_000 : 0;
      if (send_at !== undefined && clock.now() < earliest - blur) {
        yield {
          about: [message_id],
          says: `${message_id} was to go out at ${iso(earliest)} and went at ${iso(clock.now())}`,
        };
      }
      const [row] = peek(ground, messageById, [attempt.account_id, attempt.mode, message_id]);
      // A message that a policy put off has the more time for it.
      const putOff = peek(ground, timelineById, [
        attempt.account_id,
        attempt.mode,
        message_id,
      ]).some(({ entry }) => entry?.type === "policy" && entry.verdict === "defer");
      const last = putOff
        ? (row?.expires_at ?? Infinity)
        : Math.max(created, ...times) + ttl_seconds * 1_000;
      if (attempt.started_at > last + blur || clock.now() > last + blur + slackMs) {
        yield {
          about: [message_id],
          says: `${message_id} expired at ${iso(last)} and was handed over at ${iso(clock.now())}`,
        };
      }
    },
  }),
};

export const asAsked: Invariant = {
  name: "the carrier gets the words that the client gave",
  watch: ({ clients }) => ({
    *call({ message: { message_id, body, to } }) {
      const order = clients.orders.find((each) => each.message?.id === message_id);
      if (order?.message === undefined) return;
      const bodies = [order.input.body];
      for (const edit of order.edits) {
        if (edit.body === undefined || edit.state === "refused") continue;
        if (edit.state === "acknowledged") bodies.length = 0;
        bodies.push(edit.body);
      }
      if (!bodies.includes(body)) {
        yield {
          about: [message_id],
          says: `the carrier was given "${body}" for ${message_id} and not "${bodies.join('" or "')}"`,
        };
      }
      if (to !== order.message.to) {
        yield {
          about: [message_id],
          says: `${message_id} to ${order.message.to} was sent to ${to}`,
        };
      }
    },
  }),
};

export const cancelOrSend: Invariant = {
  name: "cancel wins or send wins, never both",
  watch: (world) => {
    const { clients, carrier } = world;
    return {
      *call({ message: { message_id }, number }) {
        const order = clients.orders.find((each) => each.message?.id === message_id);
        if (order?.cancel === "acknowledged") {
          yield {
            about: [message_id],
            says: `${message_id} was canceled and then called with, attempt ${number}`,
          };
        }
      },
      async end() {
        const canceled = clients.orders.filter(({ cancel }) => cancel === "acknowledged");
        return canceled.flatMap(({ message }) => {
          const id = message?.id ?? "";
          const sent = carrier
            .callsOf(id)
            .find(({ provider_message_id }) => provider_message_id !== null);
          return sent === undefined
            ? []
            : [{ about: [id], says: `${id} was canceled, and the carrier sent it` }];
        });
      },
    };
  },
};

const iso = (ms: number): string => new Date(ms).toISOString();
