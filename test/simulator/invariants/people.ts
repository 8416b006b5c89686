import {
  contactLabels,
  contacts,
  identities,
  identitiesOfContact,
} from "../../../src/contacts/rows.ts";
import {
  conversationLabels,
  conversations,
  conversationsOfContact,
  notes,
} from "../../../src/conversations/rows.ts";
import { messages, messagesOfContact } from "../../../src/messages/rows.ts";
import { observations } from "../../../src/observations/rows.ts";
import { messageScores } from "../../../src/sentiment/rows.ts";
import { mail } from "../../../src/webchat/rows.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { allOf, peek } from "../rows.ts";

export const onePerson: Invariant = {
  name: "one contact for an address, one current conversation with it",
  watch: ({ ground }) => ({
    async end() {
      const double = (what: string, names: readonly string[]): Breach[] =>
        names
          .filter((name, i) => names.indexOf(name) !== i)
          .map((name) => ({ about: [], says: `${what} ${name} twice` }));
      const all = allOf(ground, conversations);
      const current = all.filter((each) => each.current === true);
      const stray = all.filter((each) => each.status !== "closed" && each.current !== true);
      const owned = allOf(ground, identities);
      const phones = allOf(ground, contacts).flatMap(({ id, phone }) =>
        phone === null ? [] : [{ id, phone }],
      );
      const unowned = phones.filter(
        ({ id, phone }) => !owned.some((each) => each.contact_id === id && each.address === phone),
      );
      return [
        ...double(
          "a current conversation of",
          current.map(({ contact_id, medium }) => `${contact_id} on ${medium}`),
        ),
        ...double(
          "a contact with",
          phones.map(({ phone }) => phone),
        ),
        ...double(
          "an address",
          owned.map(({ medium, address }) => `${medium} ${address}`),
        ),
        ...stray.map(({ id, status }) => ({
          about: [id],
          says: `${id} is ${status} and not its contact's current one`,
        })),
        ...unowned.map(({ id, phone }) => ({
          about: [id],
          says: `contact ${id} says ${phone}, which is not its own`,
        })),
      ];
    },
  }),
};

export const noOrphans: Invariant = {
  name: "whatever there is belongs to a contact that is there",
  watch: ({ ground }) => ({
    async end() {
      const there = new Map(
        allOf(ground, contacts).map((contact) => [contact.id as string, contact]),
      );
      const threads = new Map(
        allOf(ground, conversations).map((thread) => [thread.id as string, thread]),
      );
      const breaches: Breach[] = [];
      const whole = (what: string, contact_id: string, id: string): void => {
        const contact = there.get(contact_id);
        if (contact !== undefined && contact.merged_into === null) return;
        const is =
          contact === undefined ? "is not there" : `was merged into ${contact.merged_into ?? ""}`;
        breaches.push({
          about: [contact_id, id],
          says: `${what} ${id} is of ${contact_id}, which ${is}`,
        });
      };
      const inThread = (what: string, conversation_id: string, id: string): void => {
        if (threads.has(conversation_id)) return;
        breaches.push({
          about: [id, conversation_id],
          says: `${what} ${id} is in ${conversation_id}, which is not there`,
        });
      };
      for (const { contact_id, address } of allOf(ground, identities)) {
        whole("address", contact_id, address);
      }
      for (const { contact_id, id } of threads.values()) whole("conversation", contact_id, id);
      for (const { contact_id, message_id } of allOf(ground, messageScores)) {
        whole("the score of", contact_id, message_id);
      }
      for (const { contact_id, id } of allOf(ground, observations)) {
        whole("observation", contact_id, id);
      }
      for (const { contact_id, label } of allOf(ground, contactLabels)) {
        whole("label", contact_id, label);
      }
      for (const { contact_id, conversation_id, id } of allOf(ground, messages)) {
        whole("message", contact_id, id);
        inThread("message", conversation_id, id);
        const thread = threads.get(conversation_id);
        if (thread !== undefined && thread.contact_id !== contact_id) {
          const says = `message ${id} is of ${contact_id}, and its conversation of ${thread.contact_id}`;
          breaches.push({ about: [id, conversation_id], says });
        }
      }
      for (const { conversation_id, id } of allOf(ground, notes)) {
        inThread("note", conversation_id, id);
      }
      for (const { conversation_id, label } of allOf(ground, conversationLabels)) {
        inThread("label", conversation_id, label);
      }
      const written = new Set(allOf(ground, messages).map(({ id }) => id));
      for (const { message_id, address } of allOf(ground, mail)) {
        if (written.has(message_id)) continue;
        breaches.push({
          about: [message_id],
          says: `the mailbox of ${address} has ${message_id}, which is not there`,
        });
      }
      return breaches;
    },
  }),
};

export const lastHeard: Invariant = {
  name: "a contact's last message is the last that went or came",
  watch: ({ ground, clients, isSkewed }) => ({
    async end() {
      // Clocks that differ don't agree on what is last.
      if (isSkewed) return [];
      const breaches: Breach[] = [];
      for (const { id, merged_into } of allOf(ground, contacts)) {
        if (merged_into !== null) continue;
        const times = peek(ground, messagesOfContact, [id]).map(({ created_at }) => created_at);
        const last = times.length === 0 ? null : new Date(Math.max(...times)).toISOString();
        const answer = await clients.ask((engine) => engine.contacts.get(id));
        const told = answer.kind === "done" ? answer.value.last_message_at : answer.kind;
        if (told !== last) {
          breaches.push({
            about: [id],
            says: `${id} had its last message at ${last}, and says ${told}`,
          });
        }
      }
      return breaches;
    },
  }),
};

export const mergesAnswered: Invariant = {
  name: "a merged contact is its survivor",
  watch({ ground, desk, clients, registry }) {
    let judged = 0;
    return {
      async step() {
        const fresh = desk.merged.slice(judged);
        judged = desk.merged.length;
        return fresh.flatMap(({ survivor, other }): Breach[] => {
          const left = [messagesOfContact, conversationsOfContact, identitiesOfContact].some(
            (index) => peek<object>(ground, index, [other]).length > 0,
          );
          if (!left && registry.isMerged(other)) return [];
          return [
            {
              about: [survivor, other],
              says: `${other} was merged into ${survivor}, and has something yet`,
            },
          ];
        });
      },
      async end() {
        const breaches: Breach[] = [];
        for (const id of registry.merged) {
          const survivor = registry.now(id);
          const answer = await clients.ask((engine) => engine.contacts.get(id));
          const told =
            answer.kind === "done"
              ? answer.value.merged_into
              : answer.kind === "refused"
                ? answer.code
                : "";
          const expected = registry.isErased(id) ? "not_found" : survivor;
          if (told !== expected) {
            breaches.push({
              about: [id, survivor],
              says: `${id} answers ${told ?? "nothing"} and not ${expected}`,
            });
          }
        }
        return breaches;
      },
    };
  },
};
