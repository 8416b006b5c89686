import { agentSessions } from "../../../src/agents/rows.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import { contacts } from "../../../src/contacts/rows.ts";
import { conversationById, conversations, notes } from "../../../src/conversations/rows.ts";
import { events } from "../../../src/events/rows.ts";
import { messages } from "../../../src/messages/rows.ts";
import { schema } from "../../../src/modules.ts";
import { observations } from "../../../src/observations/rows.ts";
import type { Collection } from "../../../src/ports/collection.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { messageScores } from "../../../src/sentiment/rows.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { personalDataIn } from "../personal-data.ts";
import { allRows, handOvers, insertedRows, readRows, writtenRows } from "../rows.ts";
import type { World } from "../world.ts";

type Columns = Readonly<Record<string, unknown>>;

/** The contact that a row belongs to, if any. */
function ownerOf({ database }: World, { collection }: Write, row: Columns): string | undefined {
  if (collection === contacts) return String(row["id"]);
  if (collection === notes || collection === runs || collection === agentSessions) {
    const key = [row["account_id"], row["mode"], row["conversation_id"]] as string[];
    return readRows(database, conversationById, key)[0]?.contact_id;
  }
  const { contact_id } = row;
  return typeof contact_id === "string" ? contact_id : undefined;
}

/** For each piece of personal data, the contacts in whose rows it was ever stored. */
class DataOwners {
  readonly #world: World;
  readonly #owners = new Map<string, Set<string>>();

  constructor(world: World) {
    this.#world = world;
  }

  apply(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.kind !== "insert" && write.kind !== "update") continue;
      const contact_id = ownerOf(this.#world, write, write.row);
      if (contact_id === undefined) continue;
      for (const datum of personalDataIn(write.row)) {
        const owners = this.#owners.get(datum) ?? new Set();
        this.#owners.set(datum, owners.add(contact_id));
      }
    }
  }

  /** Whether all contacts that the datum belongs to are erased. */
  mustBeGone(datum: string): boolean {
    const owners = this.#owners.get(datum);
    return owners !== undefined && [...owners].every((id) => this.#world.history.isErased(id));
  }

  of(datum: string): string[] {
    return [...(this.#owners.get(datum) ?? [])];
  }
}

/** Every row of every table in the schema, so that a new table is included by itself. */
function* everyRow({
  database,
}: World): Iterable<{ readonly table: string; readonly row: object }> {
  for (const collection of schema.collections) {
    for (const row of allRows(database, collection)) yield { table: collection.name, row };
  }
}

export const erasedDataGone: Invariant = {
  name: "Nothing of an erased contact's data is left, and no contact is erased unasked.",
  check(world) {
    const owners = new DataOwners(world);
    const { operators, history } = world;
    let checked = 0;
    const leftovers = (): Violation[] => {
      const violations: Violation[] = [];
      for (const { table, row } of everyRow(world)) {
        for (const datum of personalDataIn(row)) {
          if (!owners.mustBeGone(datum)) continue;
          const contacts = owners.of(datum);
          violations.push({
            about: contacts,
            description: `${contacts.join(" and ")} is erased, but ${datum} is in ${table}: ${JSON.stringify(row)}`,
          });
        }
      }
      return violations;
    };
    return {
      commit(_engine, writes) {
        owners.apply(writes);
        return [];
      },
      async step() {
        const fresh = operators.completedErasures.slice(checked);
        checked = operators.completedErasures.length;
        if (fresh.length === 0) return [];
        const remaining = fresh.filter((id) => !history.isErased(id));
        return [
          ...remaining.map((id) => ({
            about: [id],
            description: `the erasure of ${id} was acknowledged, but the contact still exists`,
          })),
          ...leftovers().filter(({ about }) =>
            about.every((id) => operators.completedErasures.includes(history.survivorOf(id))),
          ),
        ];
      },
      async end() {
        const unasked = history.erased.filter(
          (id) => !history.erasedTogether(id).some((each) => operators.requestedErasures.has(each)),
        );
        return [
          ...unasked.map((id) => ({
            about: [id],
            description: `${id} was erased, though no operator asked for it`,
          })),
          ...leftovers(),
        ];
      },
    };
  },
};

/** The rows that name their contact. Rows about a conversation go with it. */
const historyTables: readonly Collection<{ readonly contact_id: string | null }>[] = [
  messages,
  conversations,
  messageScores,
  observations,
  events,
];

export const erasureToldOnce: Invariant = {
  name: "One event tells of the erasure of each contact, when nothing is stored about it any more.",
  check({ database, history }) {
    const told = new Set<string>();
    return {
      *commit(engine, writes) {
        const tells = insertedRows(writes, events).filter(({ type }) => type === "contact.erased");
        for (const { data } of tells) {
          const { contact_id } = data as { contact_id: string };
          const about = [contact_id];
          if (told.has(contact_id) || !history.isErased(contact_id)) {
            yield { about, description: `${engine} told wrongly of an erasure of ${contact_id}` };
          }
          told.add(contact_id);
        }
        for (const table of historyTables) {
          const rows = tells.length > 0 ? allRows(database, table) : writtenRows(writes, table);
          for (const row of rows) {
            const { contact_id } = row;
            if (contact_id === null || !told.has(contact_id)) continue;
            yield {
              about: [contact_id],
              description: `the erasure of ${contact_id} was told, but ${table.name} has ${JSON.stringify(row)}`,
            };
          }
        }
      },
      async end() {
        return history.erased
          .filter((id) => !told.has(id))
          .map((id) => ({ about: [id], description: `no event told of the erasure of ${id}` }));
      },
    };
  },
};

export const nothingSentToErased: Invariant = {
  name: "No message is handed over to an erased contact.",
  check({ database, history }) {
    /** As of the previous commit: within one commit, a hand-over may precede the erasure. */
    let erased = new Set<string>();
    return {
      *commit(engine, writes) {
        for (const { message } of handOvers(database, writes)) {
          const { id, contact_id } = message;
          if (!erased.has(history.survivorOf(contact_id))) continue;
          yield {
            about: [id, contact_id],
            description: `${engine} handed over ${id} of ${contact_id}, which is erased`,
          };
        }
        erased = new Set(history.erased);
      },
    };
  },
};

export const redactedTextGone: Invariant = {
  name: "The text of a redacted message is stored nowhere.",
  check(world) {
    const texts = new Map<string, Set<string>>();
    return {
      commit(_engine, writes) {
        for (const { id, body } of writtenRows(writes, messages)) {
          const words = texts.get(id) ?? new Set();
          for (const word of personalDataIn(body ?? "")) words.add(word);
          texts.set(id, words);
        }
        return [];
      },
      async end() {
        const { clients } = world;
        const redacted = clients.requests.filter(({ redaction }) => redaction === "acknowledged");
        const ids = [
          ...redacted.flatMap(({ message }) => message?.id ?? []),
          ...clients.redactedInbound,
        ];
        const gone = new Map(
          ids.flatMap((id) => [...(texts.get(id) ?? [])].map((word) => [word, id] as const)),
        );
        if (gone.size === 0) return [];
        const violations: Violation[] = [];
        for (const { table, row } of everyRow(world)) {
          for (const word of personalDataIn(row)) {
            const id = gone.get(word);
            if (id !== undefined) {
              violations.push({
                about: [id],
                description: `${id} is redacted, but ${word} is in ${table}: ${JSON.stringify(row)}`,
              });
            }
          }
        }
        return violations;
      },
    };
  },
};
