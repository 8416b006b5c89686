import { identities } from "../../../src/contacts/rows.ts";
import { events, type EventRow } from "../../../src/events/rows.ts";
import { mediumOf } from "../../../src/kernel/channels.ts";
import { messages, type MessageRow } from "../../../src/messages/rows.ts";
import type { Write } from "../../../src/ports/storage.ts";
import { keywordTexts } from "../actors/inbound-texters.ts";
import type { Invariant, Violation } from "../invariant.ts";
import { allRows, handOvers, insertedRows } from "../rows.ts";
import { senderAddresses } from "../settings.ts";
import type { World } from "../world.ts";

/** The opt-outs of an address. An entry for a sender takes precedence over `all`. */
interface OptOuts {
  all: boolean;
  readonly bySender: Map<string, boolean>;
}

/**
 * The opt-outs that should be in force: computed from the committed inbound texts and consent
 * events, independently of the engine's own consent state.
 */
class ExpectedConsent {
  readonly #settings: World["settings"];
  readonly #optOuts = new Map<string, OptOuts>();
  /** How often an address opted out by keyword. Each opt-out is confirmed once. */
  readonly keywordOptOuts = new Map<string, number>();
  readonly #optedIn = new Set<string>();
  /** The answers YES of the last commit that came from contacts who had not opted out. */
  plainAnswers: readonly MessageRow[] = [];

  constructor({ settings }: World) {
    this.#settings = settings;
  }

  of(medium: string, address: string): OptOuts {
    const key = `${medium} ${address}`;
    const optOuts = this.#optOuts.get(key) ?? { all: false, bySender: new Map() };
    this.#optOuts.set(key, optOuts);
    return optOuts;
  }

  isOptedOut(medium: string, address: string, sender: string): boolean {
    const { all, bySender } = this.of(medium, address);
    return bySender.get(sender) ?? all;
  }

  /**
   * Applies a commit's texts and events in the order of their ids, which is the order in which they
   * happened. Returns the addresses that opted in.
   */
  apply(writes: readonly Write[]): ReadonlySet<string> {
    this.#optedIn.clear();
    this.plainAnswers = [];
    const texts = insertedRows(writes, messages).filter(({ direction }) => direction === "inbound");
    const consentEvents = insertedRows(writes, events).filter(({ type }) =>
      type.startsWith("contact.opted_"),
    );
    const all = [
      ...texts.map((row) => ({
        at: row.id.slice("msg_".length),
        apply: () => this.#applyText(row),
      })),
      ...consentEvents.map((row) => ({
        at: row.id.slice("evt_".length),
        apply: () => this.#applyEvent(row),
      })),
    ];
    for (const each of all.toSorted((a, b) => (a.at < b.at ? -1 : 1))) each.apply();
    return this.#optedIn;
  }

  #applyText(row: MessageRow): void {
    const { from, to, channel, body } = row;
    const keyword = keywordTexts.find(({ text }) => text === body);
    if (keyword === undefined || channel === "webchat") return;
    const isOut = this.isOptedOut("text", from, to);
    const { means } = keyword;
    if (!isOut && means === "yes") this.plainAnswers = [...this.plainAnswers, row];
    const { scope, honorNearMatches } = this.#settings.consent;
    const sender = scope === "sender" ? to : null;
    if (isOut && (means === "opt_in" || means === "yes")) this.#set("text", from, sender, false);
    if (means !== "opt_out" && !(means === "near" && honorNearMatches)) return;
    if (!isOut) this.keywordOptOuts.set(from, (this.keywordOptOuts.get(from) ?? 0) + 1);
    this.#set("text", from, sender, true);
  }

  #applyEvent({ type, data }: EventRow): void {
    const { medium, address, source } = data as { medium: string; address: string; source: string };
    // Keywords are applied as texts. An import cannot opt an address in that has opted out.
    if (source === "keyword") return;
    const isOut = type === "contact.opted_out";
    if (isOut || source !== "import") this.#set(medium, address, null, isOut);
  }

  #set(medium: string, address: string, sender: string | null, isOut: boolean): void {
    if (!isOut) this.#optedIn.add(`${medium} ${address}`);
    const optOuts = this.of(medium, address);
    if (sender !== null) {
      optOuts.bySender.set(sender, isOut);
    } else {
      optOuts.all = isOut;
      optOuts.bySender.clear();
    }
  }
}
export const optOutsRespected: Invariant = {
  name: "No message is handed over to a recipient who has opted out.",
  check(world) {
    const { database } = world;
    const consent = new ExpectedConsent(world);
    return {
      *commit(engine, writes) {
        const suspects = handOvers(database, writes)
          .map(({ message }) => message)
          .filter(
            ({ to, from, channel, keyword }) =>
              keyword !== "opt_out" && consent.isOptedOut(mediumOf(channel), to, from),
          );
        const optedIn = consent.apply(writes);
        for (const { id, to, channel, contact_id } of suspects) {
          // Within one commit, an opt-in may have come before the hand-over.
          if (optedIn.has(`${mediumOf(channel)} ${to}`)) continue;
          yield {
            about: [id, contact_id],
            description: `${engine} handed over ${id} to ${to}, who had opted out`,
          };
        }
      },
      async end() {
        return allRows(database, identities).flatMap((identity): Violation[] => {
          const {
            medium,
            address,
            contact_id,
            consent: stored,
            opted_out_of,
            opted_in_to,
          } = identity;
          const sendersWhere = (isOut: (sender: string) => boolean): string =>
            senderAddresses.filter(isOut).join(" ");
          const expected = sendersWhere((sender) => consent.isOptedOut(medium, address, sender));
          const found = sendersWhere(
            (sender) =>
              opted_out_of.includes(sender) ||
              (stored === "opted_out" && !opted_in_to.includes(sender)),
          );
          if (found === expected && (stored === "opted_out") === consent.of(medium, address).all) {
            return [];
          }
          const description = `${medium} ${address} opted out of ${expected || "no sender"}, but is stored as ${stored}, opted out of ${found || "no sender"}`;
          return [{ about: [contact_id], description }];
        });
      },
    };
  },
};

export const agentsRespectOptOuts: Invariant = {
  name: "No agent writes to a recipient who has opted out.",
  check(world) {
    const consent = new ExpectedConsent(world);
    return {
      *commit(engine, writes) {
        const suspects = insertedRows(writes, messages).filter(
          ({ author_type, to, from, channel }) =>
            author_type === "agent" && consent.isOptedOut(mediumOf(channel), to, from),
        );
        const optedIn = consent.apply(writes);
        for (const { id, to, channel, conversation_id } of suspects) {
          if (optedIn.has(`${mediumOf(channel)} ${to}`)) continue;
          yield {
            about: [id, conversation_id],
            description: `${engine}: an agent wrote ${id} to ${to}, who had opted out`,
          };
        }
      },
    };
  },
};

export const yesAnswersQuestions: Invariant = {
  name: "YES opts in only a contact who has opted out.",
  check(world) {
    const consent = new ExpectedConsent(world);
    return {
      *commit(engine, writes) {
        consent.apply(writes);
        for (const { id, from, keyword } of consent.plainAnswers) {
          if (keyword === null) continue;
          const description = `${engine} took the answer ${id} of ${from} for the keyword ${keyword}`;
          yield { about: [id], description };
        }
      },
    };
  },
};

export const optOutConfirmedOnce: Invariant = {
  name: "Each opt-out by keyword is confirmed once, unless the carrier confirms it.",
  check(world) {
    const consent = new ExpectedConsent(world);
    const confirmed = new Map<string, string[]>();
    return {
      *commit(_engine, writes) {
        consent.apply(writes);
        for (const { id, direction, keyword, to } of insertedRows(writes, messages)) {
          if (direction !== "outbound" || keyword !== "opt_out") continue;
          const all = [...(confirmed.get(to) ?? []), id];
          confirmed.set(to, all);
          const times = consent.keywordOptOuts.get(to) ?? 0;
          if (all.length > times) {
            yield {
              about: all,
              description: `${to} opted out ${times} times, but ${all.length} messages confirm it`,
            };
          }
        }
      },
      async end() {
        const isSilent = world.settings.carrierConfirmsOptOuts;
        return [...consent.keywordOptOuts].flatMap(([address, times]) => {
          const all = confirmed.get(address) ?? [];
          if (all.length === (isSilent ? 0 : times)) return [];
          return [
            {
              about: all,
              description: `${address} opted out ${times} times, but ${all.length} messages confirm it`,
            },
          ];
        });
      },
    };
  },
};
