import { senderAddresses } from "../actors/senders.ts";
import { sayings } from "../actors/texters.ts";
import { identities } from "../../../src/contacts/rows.ts";
import { events, type EventRow } from "../../../src/events/rows.ts";
import {
  type AttemptRow,
  attempts,
  messageById,
  messages,
  type MessageRow,
} from "../../../src/messages/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import type { Breach, Invariant } from "../invariant.ts";
import { allOf, peek } from "../rows.ts";
import type { World } from "../world.ts";

/** Whether an address is to be left alone: by all senders, but for those of which it said something since. */
interface Wish {
  byAll: boolean;
  readonly by: Map<string, boolean>;
}

/** What was said and done of consent, by what was committed: people's words, and what the host's people set. */
class Wishes {
  readonly #terms: World["terms"];
  readonly #wishes = new Map<string, Wish>();
  /** Opt-outs by words, by address: each is confirmed once. */
  readonly saidOut = new Map<string, number>();
  readonly #lifted = new Set<string>();

  constructor({ terms }: World) {
    this.#terms = terms;
  }

  of(medium: string, address: string): Wish {
    const wish = this.#wishes.get(`${medium} ${address}`) ?? { byAll: false, by: new Map() };
    this.#wishes.set(`${medium} ${address}`, wish);
    return wish;
  }

  isOut(medium: string, address: string, sender: string): boolean {
    const { byAll, by } = this.of(medium, address);
    return by.get(sender) ?? byAll;
  }

  /** In the order in which they were drawn, which is theirs. Answers the addresses that opted in. */
  heed(writes: readonly Write[]): ReadonlySet<string> {
    this.#lifted.clear();
    const said = inserted<MessageRow>(writes, messages).filter(
      ({ direction }) => direction === "inbound",
    );
    const set = inserted<EventRow>(writes, events).filter(({ type }) =>
      type.startsWith("contact.opted_"),
    );
    const all = [
      ...said.map((row) => ({ at: row.id.slice("msg_".length), heed: () => this.#hear(row) })),
      ...set.map((row) => ({ at: row.id.slice("evt_".length), heed: () => this.#see(row) })),
    ];
    for (const each of all.toSorted((a, b) => (a.at < b.at ? -1 : 1))) each.heed();
    return this.#lifted;
  }

  #hear({ from, to, channel, body }: MessageRow): void {
    const saying = sayings.find(({ text }) => text === body);
    if (saying === undefined || channel === "webchat") return;
    const isOut = this.isOut("text", from, to);
    const { means } = saying;
    const sender = this.#terms.consent.scope === "sender" ? to : null;
    if (isOut && (means === "opt_in" || means === "yes")) this.#wish("text", from, sender, false);
    if (means !== "opt_out" && !(means === "near" && this.#terms.consent.honourNearMatches)) return;
    if (!isOut) this.saidOut.set(from, (this.saidOut.get(from) ?? 0) + 1);
    this.#wish("text", from, sender, true);
  }

  #see({ type, data }: EventRow): void {
    const { medium, address, source } = data as { medium: string; address: string; source: string };
    // Words are heard above, and what an import says to the contrary of them counts for nothing.
    if (source === "keyword") return;
    const isOut = type === "contact.opted_out";
    if (isOut || source !== "import") this.#wish(medium, address, null, isOut);
  }

  /** Of each sender counts what was said last. */
  #wish(medium: string, address: string, sender: string | null, isOut: boolean): void {
    if (!isOut) this.#lifted.add(`${medium} ${address}`);
    const wish = this.of(medium, address);
    if (sender !== null) {
      wish.by.set(sender, isOut);
    } else {
      wish.byAll = isOut;
      wish.by.clear();
    }
  }
}

function inserted<Row>(writes: readonly Write[], collection: Write["collection"]): Row[] {
  return writes.flatMap((write) =>
    write.collection === collection && write.kind === "insert" ? [write.row as unknown as Row] : [],
  );
}

const mediumOf = (channel: string): string => (channel === "webchat" ? "webchat" : "text");

export const leftAlone: Invariant = {
  name: "who opted out is left alone",
  watch(world) {
    const { ground } = world;
    const wishes = new Wishes(world);
    return {
      *commit(engine, writes) {
        const handedOver = inserted<AttemptRow>(writes, attempts).flatMap(
          ({ account_id, mode, message_id }) =>
            peek(ground, messageById, [account_id, mode, message_id]),
        );
        const late = handedOver.filter(
          ({ to, from, channel, keyword }) =>
            keyword !== "opt_out" && wishes.isOut(mediumOf(channel), to, from),
        );
        const lifted = wishes.heed(writes);
        for (const { id, to, channel, contact_id } of late) {
          // What commits together with an opt-in may come after it, and what commits together with an opt-out before it.
          if (lifted.has(`${mediumOf(channel)} ${to}`)) continue;
          yield {
            about: [id, contact_id],
            says: `${engine} handed over ${id} to ${to}, who opted out`,
          };
        }
      },
      async end() {
        return allOf(ground, identities).flatMap((identity): Breach[] => {
          const { medium, address, contact_id, consent, opted_out_of, opted_in_to } = identity;
          const of = (isOut: (sender: string) => boolean): string =>
            senderAddresses.filter(isOut).join(" ");
          const said = of((sender) => wishes.isOut(medium, address, sender));
          const known = of(
            (sender) =>
              opted_out_of.includes(sender) ||
              (consent === "opted_out" && !opted_in_to.includes(sender)),
          );
          if (known === said && (consent === "opted_out") === wishes.of(medium, address).byAll) {
            return [];
          }
          const says = `${medium} ${address} opted out of ${said || "nobody"}, and is kept as ${consent} ${known}`;
          return [{ about: [contact_id], says }];
        });
      },
    };
  },
};

export const spared: Invariant = {
  name: "no agent writes to who opted out",
  watch(world) {
    const wishes = new Wishes(world);
    return {
      *commit(engine, writes) {
        const said = inserted<MessageRow>(writes, messages).filter(
          ({ author_type }) => author_type === "agent",
        );
        const late = said.filter(({ to, from, channel }) =>
          wishes.isOut(mediumOf(channel), to, from),
        );
        const lifted = wishes.heed(writes);
        for (const { id, to, channel, conversation_id } of late) {
          if (lifted.has(`${mediumOf(channel)} ${to}`)) continue;
          yield {
            about: [id, conversation_id],
            says: `${engine} had an agent say ${id} to ${to}, who opted out`,
          };
        }
      },
    };
  },
};

export const confirmedOnce: Invariant = {
  name: "an opt-out is confirmed once",
  watch(world) {
    const wishes = new Wishes(world);
    const confirmed = new Map<string, string[]>();
    return {
      *commit(_engine, writes) {
        wishes.heed(writes);
        for (const { id, direction, keyword, to } of inserted<MessageRow>(writes, messages)) {
          if (direction !== "outbound" || keyword !== "opt_out") continue;
          const all = [...(confirmed.get(to) ?? []), id];
          confirmed.set(to, all);
          const times = wishes.saidOut.get(to) ?? 0;
          if (all.length > times) {
            yield {
              about: all,
              says: `${to} opted out ${times} times, and ${all.length} messages confirm it`,
            };
          }
        }
      },
      async end() {
        const silent = world.terms.carrierConfirms;
        return [...wishes.saidOut].flatMap(([address, times]) => {
          const all = confirmed.get(address) ?? [];
          if (all.length === (silent ? 0 : times)) return [];
          return [
            {
              about: all,
              says: `${address} opted out ${times} times, and ${all.length} messages confirm it`,
            },
          ];
        });
      },
    };
  },
};
