import { contacts, identities } from "../../../src/domain/contacts/rows.ts";
import { conversations } from "../../../src/domain/conversations/rows.ts";
import { messages } from "../../../src/domain/messages/rows.ts";
import type { Order } from "../clients.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { allOf } from "../rows.ts";

export const acknowledged: Invariant = {
  name: "what was acknowledged is there",
  watch: ({ clients }) => ({
    async end() {
      const breaches: Breach[] = [];
      for (const order of clients.orders) {
        if (order.message === undefined) continue;
        const { id, to, from, contact_id, conversation_id, created_at } = order.message;
        const answer = await clients.ask((engine) => engine.messages.get(id));
        if (answer.kind !== "done") {
          breaches.push({ about: [id], says: `order ${order.number} was acknowledged as ${id}, which can't be found` });
          continue;
        }
        const now = answer.value;
        const expected = { to, from, contact_id, conversation_id, created_at, body: bodyOf(order) };
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
  return edits.findLast(({ body, state }) => body !== undefined && state === "acknowledged")?.body ?? input.body;
}

export const oneKeyOneMessage: Invariant = {
  name: "one order makes at most one message",
  watch: ({ clients, ground }) => ({
    async end() {
      const outbound = allOf(ground, messages).filter(({ direction }) => direction === "outbound");
      const ids = new Map<string, number>();
      const known = new Set(clients.orders.flatMap(({ message }) => message?.id ?? []));
      const strangers: Breach[] = [];
      for (const { id, idempotency_key: key } of outbound) {
        if (key !== null) ids.set(key, (ids.get(key) ?? 0) + 1);
        if (!known.has(id)) strangers.push({ about: [id], says: `message ${id} is nobody's order` });
      }
      const unanswered = clients.orders.filter(({ message, unknown }) => message === undefined && unknown).length;
      return [
        ...[...ids]
          .filter(([, count]) => count > 1)
          .map(([key, count]) => ({ about: [], says: `key ${key} made ${count} messages` })),
        ...(strangers.length > unanswered ? strangers : []),
        ...clients.orders
          .filter(({ message, refusal, unknown }) => message === undefined && refusal === null && !unknown)
          .map(({ number }) => ({ about: [], says: `order ${number} was never answered` })),
      ];
    },
  }),
};

export const sequences: Invariant = {
  name: "a conversation's places are 1, 2, 3 without gap or double",
  watch: ({ ground }) => ({
    async end() {
      const all = allOf(ground, messages);
      return allOf(ground, conversations).flatMap(({ id, message_count }) => {
        const places = all.filter(({ conversation_id }) => conversation_id === id).map(({ sequence }) => sequence);
        places.sort((a, b) => a - b);
        const right = places.length === message_count && places.every((place, i) => place === i + 1);
        return right
          ? []
          : [{ about: [id], says: `conversation ${id} counts ${message_count} and has places ${places.join(", ")}` }];
      });
    },
  }),
};

export const onePerson: Invariant = {
  name: "one contact for an address, one active conversation with it",
  watch: ({ ground }) => ({
    async end() {
      const double = (what: string, names: readonly string[]): Breach[] =>
        names
          .filter((name, i) => names.indexOf(name) !== i)
          .map((name) => ({ about: [], says: `${what} ${name} twice` }));
      const active = allOf(ground, conversations).filter(({ status }) => status !== "closed");
      const phones = allOf(ground, contacts).map(({ phone }) => phone ?? "no phone");
      const owners = new Set(allOf(ground, identities).map(({ contact_id }) => contact_id));
      const lone = allOf(ground, contacts).filter(({ id }) => !owners.has(id));
      return [
        ...double(
          "an active conversation of",
          active.map(({ contact_id, medium }) => `${contact_id} on ${medium}`),
        ),
        ...double("a contact with", phones),
        ...lone.map(({ id }) => ({ about: [id], says: `contact ${id} has no address` })),
      ];
    },
  }),
};

export const oneInbound: Invariant = {
  name: "an inbound message makes one message",
  watch: ({ carrier, clients, ground }) => ({
    async end() {
      const inbound = allOf(ground, messages).filter(({ direction }) => direction === "inbound");
      return carrier.inbound.flatMap(({ message: { provider_message_id, body, from } }) => {
        const made = inbound.filter((each) => each.provider_message_id === provider_message_id);
        const [one] = made;
        if (made.length !== 1 || one === undefined) {
          return [{ about: made.map(({ id }) => id), says: `${provider_message_id} made ${made.length} messages` }];
        }
        const expected = clients.redactedInbound.has(one.id) ? null : body;
        if (one.body === expected && one.from === from) return [];
        return [
          {
            about: [one.id],
            says: `${provider_message_id} says "${one.body ?? "nothing"}" and not "${expected ?? "nothing"}"`,
          },
        ];
      });
    },
  }),
};
