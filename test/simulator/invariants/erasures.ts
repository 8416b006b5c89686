import { contacts } from "../../../src/contacts/rows.ts";
import { conversationById, notes } from "../../../src/conversations/rows.ts";
import { agentSessions } from "../../../src/agents/rows.ts";
import { type AttemptRow, attempts, messageById, messages } from "../../../src/messages/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { runs } from "../../../src/agents/runs/rows.ts";
import { schema } from "../../../src/schema.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { allOf, peek } from "../rows.ts";
import { tellingIn } from "../words.ts";
import type { World } from "../world.ts";

type Columns = Readonly<Record<string, unknown>>;

/** The contact that a row is about; undefined where it is about none. */
function ownerOf({ ground }: World, { collection }: Write, row: Columns): string | undefined {
  if (collection === contacts) return String(row["id"]);
  if (collection === notes || collection === runs || collection === agentSessions) {
    const key = [row["account_id"], row["mode"], row["conversation_id"]] as string[];
    return peek(ground, conversationById, key)[0]?.contact_id;
  }
  const { contact_id } = row;
  return typeof contact_id === "string" ? contact_id : undefined;
}

/** Words, numbers and addresses, and the contacts that they were ever seen with. */
class Owners {
  readonly #world: World;
  readonly #owners = new Map<string, Set<string>>();

  constructor(world: World) {
    this.#world = world;
  }

  heed(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.kind !== "insert" && write.kind !== "update") continue;
      const contact_id = ownerOf(this.#world, write, write.row);
      if (contact_id === undefined) continue;
      for (const word of tellingIn(write.row)) {
        const owners = this.#owners.get(word) ?? new Set();
        this.#owners.set(word, owners.add(contact_id));
      }
    }
  }

  /** Whether all whom it tells of are erased. */
  isDead(word: string): boolean {
    const owners = this.#owners.get(word);
    return owners !== undefined && [...owners].every((id) => this.#world.registry.isErased(id));
  }

  ownersOf(word: string): string[] {
    return [...(this.#owners.get(word) ?? [])];
  }
}

/** Every row of every table, so that no new one is forgotten here. */
function* everything({
  ground,
}: World): Iterable<{ readonly table: string; readonly row: object }> {
  for (const collection of schema.collections) {
    for (const row of allOf(ground, collection)) yield { table: collection.name, row };
  }
}

export const nothingLeft: Invariant = {
  name: "of who is erased nothing is left",
  watch(world) {
    const owners = new Owners(world);
    const { desk, registry } = world;
    let judged = 0;
    const found = (): Breach[] => {
      const breaches: Breach[] = [];
      for (const { table, row } of everything(world)) {
        for (const word of tellingIn(row)) {
          if (!owners.isDead(word)) continue;
          const whose = owners.ownersOf(word);
          breaches.push({
            about: whose,
            says: `${whose.join(" and ")} is erased, and ${word} is in ${table}: ${JSON.stringify(row)}`,
          });
        }
      }
      return breaches;
    };
    return {
      commit(_engine, writes) {
        owners.heed(writes);
        return [];
      },
      async step() {
        const fresh = desk.erased.slice(judged);
        judged = desk.erased.length;
        if (fresh.length === 0) return [];
        const there = fresh.filter((id) => !registry.isErased(id));
        return [
          ...there.map((id) => ({
            about: [id],
            says: `the erasure of ${id} was answered, and it is there`,
          })),
          ...found().filter(({ about }) =>
            about.every((id) => desk.erased.includes(registry.now(id))),
          ),
        ];
      },
      async end() {
        const unasked = registry.erased.filter(
          (id) => !registry.goneWith(id).some((each) => desk.erasures.has(each)),
        );
        return [
          ...unasked.map((id) => ({ about: [id], says: `nobody wanted ${id} to be erased` })),
          ...found(),
        ];
      },
    };
  },
};

export const nothingSent: Invariant = {
  name: "nothing is handed over to who is erased",
  watch({ ground, registry }) {
    /** Before the commit that is looked at: what commits together with an erasure may have come before it. */
    let erased = new Set<string>();
    return {
      *commit(engine, writes) {
        for (const write of writes) {
          if (write.collection !== attempts || write.kind !== "insert") continue;
          const { account_id, mode, message_id } = write.row as unknown as AttemptRow;
          const [message] = peek(ground, messageById, [account_id, mode, message_id]);
          if (message === undefined || !erased.has(registry.now(message.contact_id))) continue;
          const about = [message_id, message.contact_id];
          yield {
            about,
            says: `${engine} handed over ${message_id} of ${message.contact_id}, which is erased`,
          };
        }
        erased = new Set(registry.erased);
      },
    };
  },
};

export const nothingSaid: Invariant = {
  name: "what is redacted is said nowhere",
  watch(world) {
    const said = new Map<string, Set<string>>();
    return {
      commit(_engine, writes) {
        for (const write of writes) {
          if (
            write.collection !== messages ||
            (write.kind !== "insert" && write.kind !== "update")
          ) {
            continue;
          }
          const id = String(write.row["id"]);
          const words = said.get(id) ?? new Set();
          for (const word of tellingIn(write.row["body"] ?? "")) words.add(word);
          said.set(id, words);
        }
        return [];
      },
      async end() {
        const { clients } = world;
        const redacted = clients.orders.filter(({ redaction }) => redaction === "acknowledged");
        const ids = [
          ...redacted.flatMap(({ message }) => message?.id ?? []),
          ...clients.redactedInbound,
        ];
        const gone = new Map(
          ids.flatMap((id) => [...(said.get(id) ?? [])].map((word) => [word, id] as const)),
        );
        if (gone.size === 0) return [];
        const breaches: Breach[] = [];
        for (const { table, row } of everything(world)) {
          for (const word of tellingIn(row)) {
            const id = gone.get(word);
            if (id !== undefined) {
              breaches.push({
                about: [id],
                says: `${id} is redacted, and ${word} is in ${table}: ${JSON.stringify(row)}`,
              });
            }
          }
        }
        return breaches;
      },
    };
  },
};
