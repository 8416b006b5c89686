import { messageById, messages, type MessageRow } from "../../../src/messages/rows.ts";
import type { Order } from "../clients.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { allOf, peek } from "../rows.ts";

export const acknowledged: Invariant = {
  name: "what was acknowledged is there",
  watch: ({ clients, registry }) => ({
    async end() {
      const breaches: Breach[] = [];
      for (const order of clients.orders) {
        if (order.message === undefined) continue;
        const { id, to, from, contact_id, conversation_id, created_at } = order.message;
        const answer = await clients.ask((engine) => engine.messages.get(id));
        if (registry.isErased(contact_id)) continue;
        if (answer.kind !== "done") {
          breaches.push({
            about: [id],
            says: `order ${order.number} was acknowledged as ${id}, which can't be found`,
          });
          continue;
        }
        const now = answer.value;
        const whose = registry.now(contact_id);
        const expected = {
          to,
          from,
          contact_id: whose,
          conversation_id,
          created_at,
          body: bodyOf(order),
        };
        const found = Object.fromEntries(
          Object.keys(expected).map((name) => [name, Reflect.get(now, name) as unknown]),
        );
        if (JSON.stringify(found) !== JSON.stringify(expected)) {
          breaches.push({
            about: [id],
            says: `${id} is not as it was acknowledged: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`,
          });
        }
        if (order.cancel === "acknowledged" && now.status !== "canceled") {
          breaches.push({ about: [id], says: `${id} was canceled and is ${now.status}` });
        }
      }
      return breaches;
    },
  }),
};

function bodyOf({ input, edits, redaction }: Order): string | null {
  if (redaction === "acknowledged") return null;
  return (
    edits.findLast(({ body, state }) => body !== undefined && state === "acknowledged")?.body ??
    input.body
  );
}

export const oneKeyOneMessage: Invariant = {
  name: "one order makes at most one message",
  watch: ({ clients, ground }) => ({
    async end() {
      const outbound = allOf(ground, messages).filter(
        ({ author_type }) => author_type === "api" || author_type === "human",
      );
      const ids = new Map<string, number>();
      const known = new Set(clients.orders.flatMap(({ message }) => message?.id ?? []));
      const strangers: Breach[] = [];
      for (const { id, idempotency_key: key } of outbound) {
        if (key !== null) ids.set(key, (ids.get(key) ?? 0) + 1);
        if (!known.has(id)) {
          strangers.push({ about: [id], says: `message ${id} is nobody's order` });
        }
      }
      const unanswered = clients.orders.filter(
        ({ message, unknown }) => message === undefined && unknown,
      ).length;
      return [
        ...[...ids]
          .filter(([, count]) => count > 1)
          .map(([key, count]) => ({ about: [], says: `key ${key} made ${count} messages` })),
        ...(strangers.length > unanswered ? strangers : []),
        ...clients.orders
          .filter(
            ({ message, refusal, unknown }) =>
              message === undefined && refusal === null && !unknown,
          )
          .map(({ number }) => ({ about: [], says: `order ${number} was never answered` })),
      ];
    },
  }),
};

export const oneInbound: Invariant = {
  name: "an inbound message makes one message",
  watch: ({ carrier, clients, ground, registry }) => {
    const made = new Map<string, MessageRow[]>();
    return {
      *commit(engine, writes) {
        for (const write of writes) {
          if (write.collection !== messages || write.kind !== "insert") continue;
          const row = write.row as unknown as MessageRow;
          if (row.direction !== "inbound") continue;
          const under = row.provider_message_id ?? "";
          const before = made.get(under) ?? [];
          made.set(under, [...before, row]);
          const [first] = before;
          if (first !== undefined) {
            yield {
              about: [first.id, row.id],
              says: `${engine} made ${row.id} of ${under}, which is ${first.id} already`,
            };
          }
        }
      },
      async end() {
        return carrier.inbound.flatMap(({ message: { provider_message_id, body, from } }) => {
          const [first] = made.get(provider_message_id) ?? [];
          if (first === undefined) {
            return [{ about: [], says: `${provider_message_id} made no message` }];
          }
          const { id, contact_id } = first;
          const [one] = peek(ground, messageById, [first.account_id, first.mode, id]);
          if (one === undefined) {
            return registry.isErased(contact_id)
              ? []
              : [{ about: [id], says: `${id}, of ${contact_id}, is gone` }];
          }
          const expected = clients.redactedInbound.has(id) ? null : body;
          const isAsSaid =
            one.body === expected || (one.body === null && clients.perhapsRedacted.has(id));
          if (isAsSaid && one.from === from) return [];
          const says = `${provider_message_id} says "${one.body ?? "nothing"}" and not "${expected ?? "nothing"}"`;
          return [{ about: [id], says }];
        });
      },
    };
  },
};
