import { identities } from "../../../src/contacts/rows.ts";
import type { SenderId } from "../../../src/kernel/ids.ts";
import { messages, type MessageRow } from "../../../src/messages/rows.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { StoragePort, Write } from "../../../src/ports/storage.ts";
import { rankSenders } from "../../../src/senders/choose-sender.ts";
import { defaultSenders, senders } from "../../../src/senders/rows.ts";
import type { Invariant } from "../invariant.ts";
import { allRows, insertedRows, removedIds, writtenRows } from "../rows.ts";

export const senderChosen: Invariant = {
  name: "A contact keeps the sender it last had, and a new contact gets its sender of the pool.",
  check: ({ database, clients, clock }) => {
    const pools = new Pools(database, clock);
    const lastSenders = new LastSenders(database, clock);
    /** Whether the engine chose the sender, and the message is the only one of its contact. */
    const isChosen = (
      { id, to, body, channel }: MessageRow,
      all: readonly MessageRow[],
    ): boolean => {
      const request = clients.requests.find(({ input }) => input.body === body);
      const isAlone = all.every((each) => each.id === id || ![each.to, each.from].includes(to));
      const namesNone = request !== undefined && request.input.from === undefined;
      return channel !== "webchat" && namesNone && isAlone;
    };
    return {
      *commit(engine, writes) {
        pools.follow(writes);
        const newlyOwned = lastSenders.newlyOwned(writes);
        lastSenders.leave([...removedIds(writes, identities), ...newlyOwned]);
        const inserted = insertedRows(writes, messages);
        for (const message of inserted) {
          if (!isChosen(message, inserted)) continue;
          const { id, to, from, contact_id } = message;
          const isNew = lastSenders.hasNone(to) || newlyOwned.includes(to);
          const expected = [
            ...lastSenders.of(to),
            // A command that read the address before it was removed writes for its old contact.
            ...lastSenders.ofLeft(contact_id),
            ...(isNew ? pools.sendersForNew(to) : []),
          ];
          if (expected.includes(from)) continue;
          yield {
            about: [id],
            description: `${engine} wrote to ${to} from ${from} instead of ${expected.join(" or ")}`,
          };
        }
        lastSenders.follow(writes);
      },
    };
  },
};

/** How old a read may be when an engine commits: stalls and delays together. */
const staleMs = 120_000;

/** A value, and until when a read could return it. */
interface Dated<T> {
  readonly value: T;
  readonly until: number;
}

/** The values that a command which commits now may have read. */
function readable<T>(values: readonly Dated<T>[] | undefined, clock: Clock): T[] {
  const recent = (values ?? []).filter(({ until }) => until > clock.now() - staleMs);
  return recent.map(({ value }) => value);
}

const addressOf = (database: StoragePort, id: string | null): string =>
  allRows(database, senders).find((each) => each.id === id)?.address ?? "";

/** The ids of the live senders of texts in the pool, and of the default one. */
interface Pool {
  readonly phones: readonly SenderId[];
  readonly standard: SenderId | undefined;
}

/** The pool as it is and as it was. A command does not lock the pool that it reads. */
class Pools {
  readonly #database: StoragePort;
  readonly #clock: Clock;
  // The database may not be open yet, so nothing is read from it here.
  #pool: Pool = { phones: [], standard: undefined };
  readonly #former: Dated<Pool>[] = [];

  constructor(database: StoragePort, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  follow(writes: readonly Write[]): void {
    const isChanged = writes.some(
      ({ collection }) => collection === senders || collection === defaultSenders,
    );
    if (!isChanged) return;
    this.#former.push({ value: this.#pool, until: this.#clock.now() });
    this.#pool = poolIn(this.#database);
  }

  /** The senders that an address without one may get. */
  sendersForNew(to: string): string[] {
    return [this.#pool, ...readable(this.#former, this.#clock)].map(({ phones, standard }) => {
      // Without senders in the pool, the default one sends.
      const [first = standard] = rankSenders(to, phones);
      return addressOf(this.#database, first ?? null);
    });
  }
}

function poolIn(database: StoragePort): Pool {
  const phones = allRows(database, senders).filter(
    ({ mode, channels, pool }) => pool && mode === "live" && channels.includes("sms"),
  );
  const standard = allRows(database, defaultSenders).find(
    ({ mode, channel }) => mode === "live" && channel === "sms",
  );
  return { phones: phones.map(({ id }) => id), standard: standard?.sender_id };
}

/** The senders that addresses last had. */
class LastSenders {
  readonly #database: StoragePort;
  readonly #clock: Clock;
  /**
   * The last senders of each address, in order. The sender is empty while the address has a new
   * contact, which has none yet.
   */
  readonly #byAddress = new Map<string, Dated<string>[]>();
  /** The last senders of the addresses that a contact no longer has, by contact. */
  readonly #leftByContact = new Map<string, Dated<string>[]>();
  /** The contact of each address. */
  readonly #owners = new Map<string, string>();

  constructor(database: StoragePort, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The addresses that get another contact, or their first one. */
  newlyOwned(writes: readonly Write[]): readonly string[] {
    return writtenRows(writes, identities)
      .filter(({ address, contact_id }) => this.#owners.get(address) !== contact_id)
      .map(({ address }) => address);
  }

  /** The senders that a command may have read for an address. */
  of(address: string): string[] {
    return readable(this.#byAddress.get(address), this.#clock).filter((sender) => sender !== "");
  }

  /** Those for the addresses that a contact no longer has. */
  ofLeft(contact_id: string): string[] {
    return readable(this.#leftByContact.get(contact_id), this.#clock);
  }

  /** Whether an address has no last sender, also because it has a new contact. */
  hasNone(address: string): boolean {
    // One commit can erase a contact and create another one with the same address.
    const last = readable(this.#byAddress.get(address), this.#clock).at(-1);
    return last === undefined || last === "";
  }

  /**
   * Call before the messages of a commit are judged: it can replace a contact's address, write to
   * the new one, and give the old one to another contact.
   */
  leave(addresses: readonly string[]): void {
    for (const address of addresses) {
      const last = this.#byAddress.get(address)?.at(-1);
      const owner = this.#owners.get(address);
      if (last === undefined || owner === undefined) continue;
      const others = this.#leftByContact.get(owner) ?? [];
      const left = { value: last.value, until: this.#clock.now() };
      this.#leftByContact.set(owner, [...others, left]);
    }
  }

  /** Call after the messages of a commit were judged. */
  follow(writes: readonly Write[]): void {
    for (const { address, contact_id, last_sender_id } of writtenRows(writes, identities)) {
      // One commit can erase a contact and create another one, which has no last sender yet.
      const hasNewOwner = this.#owners.get(address) !== contact_id;
      this.#owners.set(address, contact_id);
      this.#setLast(address, addressOf(this.#database, last_sender_id), hasNewOwner);
    }
    for (const address of removedIds(writes, identities)) this.#byAddress.delete(address);
  }

  #setLast(address: string, sender: string, hasNewOwner: boolean): void {
    const before = this.#byAddress.get(address) ?? [];
    const last = before.at(-1);
    const isSame = last?.value === sender && !hasNewOwner;
    if (isSame || (sender === "" && (!hasNewOwner || last === undefined))) return;
    const now = this.#clock.now();
    const ended = before.map((each) => ({ ...each, until: Math.min(each.until, now) }));
    const earlier = ended.filter(({ value }) => value !== "");
    this.#byAddress.set(address, [...earlier, { value: sender, until: Infinity }]);
  }
}
