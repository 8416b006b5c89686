import {
  contactLabels,
  contacts,
  identities,
  identitiesOfContact,
} from "../../../src/contacts/rows.ts";
import { isOutsideThread } from "../../../src/conversations/places.ts";
import {
  conversationLabels,
  conversations,
  conversationsOfContact,
  notes,
} from "../../../src/conversations/rows.ts";
import { getOrInsert } from "../../../src/kernel/cache.ts";
import { iso } from "../../../src/kernel/time.ts";
import { messages, messagesOfContact } from "../../../src/messages/rows.ts";
import { observations } from "../../../src/observations/rows.ts";
import { messageScores } from "../../../src/sentiment/rows.ts";
import { mail } from "../../../src/webchat/rows.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { allRows, readRows, writtenRows } from "../rows.ts";

export const uniqueAddresses: Invariant = {
  name: "An address belongs to one contact, and a contact has one current conversation per medium.",
  check: ({ database }) => ({
    async end() {
      const duplicates = (what: string, names: readonly string[]): Violation[] =>
        names
          .filter((name, i) => names.indexOf(name) !== i)
          .map((name) => ({ about: [], description: `there are two ${what} ${name}` }));
      const all = allRows(database, conversations);
      const current = all.filter((each) => each.current === true);
      const notCurrent = all.filter((each) => each.status !== "closed" && each.current !== true);
      const owned = allRows(database, identities);
      const phones = allRows(database, contacts).flatMap(({ id, phone }) =>
        phone === null ? [] : [{ id, phone }],
      );
      const unowned = phones.filter(
        ({ id, phone }) => !owned.some((each) => each.contact_id === id && each.address === phone),
      );
      return [
        ...duplicates(
          "current conversations of",
          current.map(({ contact_id, medium }) => `${contact_id} on ${medium}`),
        ),
        ...duplicates(
          "contacts with",
          phones.map(({ phone }) => phone),
        ),
        ...duplicates(
          "identities with",
          owned.map(({ medium, address }) => `${medium} ${address}`),
        ),
        ...notCurrent.map(({ id, status }) => ({
          about: [id],
          description: `${id} is ${status}, but not the contact's current conversation`,
        })),
        ...unowned.map(({ id, phone }) => ({
          about: [id],
          description: `contact ${id} has the phone ${phone}, which is not one of its identities`,
        })),
      ];
    },
  }),
};

export const noOrphans: Invariant = {
  name: "Every row belongs to a contact and a conversation that exist.",
  check: ({ database }) => ({
    async end() {
      const existing = new Map(
        allRows(database, contacts).map((contact) => [contact.id as string, contact]),
      );
      const conversationById = new Map(
        allRows(database, conversations).map((each) => [each.id as string, each]),
      );
      const violations: Violation[] = [];
      const checkContact = (what: string, contact_id: string, id: string): void => {
        const contact = existing.get(contact_id);
        if (contact !== undefined && contact.merged_into === null) return;
        const problem =
          contact === undefined ? "does not exist" : `was merged into ${contact.merged_into ?? ""}`;
        violations.push({
          about: [contact_id, id],
          description: `${what} ${id} belongs to ${contact_id}, which ${problem}`,
        });
      };
      const checkConversation = (what: string, conversation_id: string, id: string): void => {
        if (conversationById.has(conversation_id)) return;
        violations.push({
          about: [id, conversation_id],
          description: `${what} ${id} belongs to ${conversation_id}, which does not exist`,
        });
      };
      for (const { contact_id, address } of allRows(database, identities)) {
        checkContact("identity", contact_id, address);
      }
      for (const { contact_id, id } of conversationById.values()) {
        checkContact("conversation", contact_id, id);
      }
      for (const { contact_id, message_id } of allRows(database, messageScores)) {
        checkContact("the score of", contact_id, message_id);
      }
      for (const { contact_id, id } of allRows(database, observations)) {
        checkContact("observation", contact_id, id);
      }
      for (const { contact_id, label } of allRows(database, contactLabels)) {
        checkContact("label", contact_id, label);
      }
      for (const { contact_id, conversation_id, id } of allRows(database, messages)) {
        checkContact("message", contact_id, id);
        checkConversation("message", conversation_id, id);
        const conversation = conversationById.get(conversation_id);
        if (conversation !== undefined && conversation.contact_id !== contact_id) {
          violations.push({
            about: [id, conversation_id],
            description: `message ${id} belongs to ${contact_id}, but its conversation to ${conversation.contact_id}`,
          });
        }
      }
      for (const { conversation_id, id } of allRows(database, notes)) {
        checkConversation("note", conversation_id, id);
      }
      for (const { conversation_id, label } of allRows(database, conversationLabels)) {
        checkConversation("label", conversation_id, label);
      }
      const messageIds = new Set(allRows(database, messages).map(({ id }) => id));
      for (const { message_id, address } of allRows(database, mail)) {
        if (messageIds.has(message_id)) continue;
        violations.push({
          about: [message_id],
          description: `the mailbox of ${address} has ${message_id}, which does not exist`,
        });
      }
      return violations;
    },
  }),
};

export const lastMessageTime: Invariant = {
  name: "A contact's last message time is that of its latest message: when it was written, or when it took its place after it had waited.",
  check({ database, clients, clocksDiffer }) {
    /**
     * When a message may have taken a place. One that is deferred or canceled later forgets it. If
     * its release and its deferral share a commit, only `updated_at` tells the time.
     */
    const placed = new Map<string, Set<number>>();
    return {
      commit(_engine, writes) {
        for (const row of writtenRows(writes, messages)) {
          const at = isOutsideThread(row) ? row.updated_at : row.placed_at;
          getOrInsert(placed, row.id, () => new Set<number>()).add(at);
        }
        return [];
      },
      async end() {
        // Clocks that differ do not agree on which message is the latest.
        if (clocksDiffer) return [];
        const violations: Violation[] = [];
        for (const { id, merged_into } of allRows(database, contacts)) {
          if (merged_into !== null) continue;
          const rows = readRows(database, messagesOfContact, [id]);
          const times = rows.flatMap(({ created_at, placed_at, status }) =>
            status === "canceled" ? [created_at] : [created_at, placed_at],
          );
          // The cancel of a message that waited is no activity. Its release before that was.
          const released = rows.flatMap((row) => [...(placed.get(row.id) ?? [])].map(iso));
          // A command may begin before another engine opens the conversation that it then sends in.
          // Its message counts from the opening.
          const openings = readRows(database, conversationsOfContact, [id]).flatMap(
            ({ created_at, message_count }) => (message_count > 0 ? [created_at] : []),
          );
          const latest = Math.max(...times, ...openings);
          const last = times.length === 0 ? null : iso(latest);
          const answer = await clients.ask((engine) => engine.contacts.get(id));
          const found = answer.kind === "done" ? answer.value.last_message_at : answer.kind;
          const isRelease = found !== null && last !== null && found > last;
          if (found !== last && !(isRelease && released.includes(found))) {
            violations.push({
              about: [id],
              description: `the last message of ${id} was at ${last}, but the contact says ${found}`,
            });
          }
        }
        return violations;
      },
    };
  },
};

export const mergesComplete: Invariant = {
  name: "A merge moves everything to the survivor, and reading the merged contact names the survivor.",
  check({ database, operators, clients, history }) {
    let checked = 0;
    return {
      async step() {
        const fresh = operators.completedMerges.slice(checked);
        checked = operators.completedMerges.length;
        return fresh.flatMap(({ survivor, other }): Violation[] => {
          const hasRows = [messagesOfContact, conversationsOfContact, identitiesOfContact].some(
            (index) => readRows<object>(database, index, [other]).length > 0,
          );
          if (!hasRows && history.isMerged(other)) return [];
          return [
            {
              about: [survivor, other],
              description: `the merge of ${other} into ${survivor} was acknowledged, but is not complete`,
            },
          ];
        });
      },
      async end() {
        const violations: Violation[] = [];
        for (const id of history.merged) {
          const survivor = history.survivorOf(id);
          const answer = await clients.ask((engine) => engine.contacts.get(id));
          const found =
            answer.kind === "done"
              ? answer.value.merged_into
              : answer.kind === "refused"
                ? answer.code
                : "";
          const expected = history.isErased(id) ? "not_found" : survivor;
          if (found !== expected) {
            violations.push({
              about: [id, survivor],
              description: `reading ${id} returned ${found ?? "no survivor"} instead of ${expected}`,
            });
          }
        }
        return violations;
      },
    };
  },
};
