/** Follows messages and keeps what is to be drawn of each. */
import type { AccountHandle, Message } from "tidings";
import type { Scenario } from "./scenarios.ts";
import { storyOf, type Word } from "./story.ts";
import type { Row } from "./terminal.ts";

interface Entry {
  readonly id: string;
  readonly scenario: Scenario | undefined;
  readonly replies: Word[];
  message: Message | undefined;
  attempts: number;
  words: readonly Word[];
}

/** What is new since the last look. */
export interface News {
  readonly row: Row;
  readonly word: Word;
  readonly seconds: number;
}

/** Receipts and look-ups of the sandbox come within this time; after it a message is left alone. In milliseconds. */
const followedMs = 90_000;

export class Journal {
  readonly #account: AccountHandle;
  readonly #entries = new Map<string, Entry>();

  constructor(account: AccountHandle) {
    this.#account = account;
  }

  expect(id: string, scenario: Scenario): void {
    const { replies = [], ...known } = this.#entries.get(id) ?? {};
    this.#entries.set(id, {
      id,
      message: undefined,
      attempts: 0,
      words: [],
      ...known,
      replies,
      scenario,
    });
  }

  /** A message that somebody else sent. */
  add(id: string): void {
    if (this.#entries.has(id)) return;
    this.#entries.set(id, {
      id,
      scenario: undefined,
      replies: [],
      message: undefined,
      attempts: 0,
      words: [],
    });
  }

  /** What came from a phone is told with the last message to it. */
  hear(phone: string, body: string): void {
    const entry = [...this.#entries.values()].findLast((each) => addressOf(each) === phone);
    entry?.replies.push({ at: new Date().toISOString(), text: `← “${body}”`, tone: "good" });
  }

  async look(): Promise<readonly News[]> {
    const looked = await Promise.all(
      [...this.#entries.values()].map((entry) => this.#lookAt(entry)),
    );
    return looked.flat().toSorted((a, b) => (a.word.at < b.word.at ? -1 : 1));
  }

  /** Of what `isLate`, that it has not ended as it should by now is a failure. */
  rows({ isLate = false } = {}): Row[] {
    const entries = [...this.#entries.values()];
    const expected = entries
      .filter(({ scenario }) => scenario !== undefined)
      .toSorted((a, b) => (addressOf(a) < addressOf(b) ? -1 : 1));
    const others = entries.filter(({ scenario }) => scenario === undefined);
    return [...expected, ...others].map((entry) => rowOf(entry, isLate));
  }

  isSettled(): boolean {
    return [...this.#entries.values()].every(
      (entry) => entry.scenario === undefined || hasPassed(entry, entry.scenario),
    );
  }

  async #lookAt(entry: Entry): Promise<News[]> {
    const known = entry.message;
    if (known !== undefined && Date.now() - Date.parse(known.created_at) > followedMs) return [];
    const { data } = await this.#account.messages.timeline(entry.id);
    entry.message = await this.#account.messages.get(entry.id);
    entry.attempts = data.filter(({ type }) => type === "attempt").length;
    const before = entry.words.length;
    entry.words = [...storyOf(data), ...entry.replies].toSorted((a, b) =>
      a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
    );
    const row = rowOf(entry, false);
    return entry.words
      .slice(before)
      .map((word) => ({ row, word, seconds: since(entry.message, word.at) }));
  }
}

function rowOf({ message, scenario, words, ...rest }: Entry, isLate: boolean): Row {
  const hasEnded = scenario === undefined || hasPassed({ message, ...rest }, scenario);
  return {
    to: addressOf({ message, scenario }),
    label: scenario?.shows ?? short(message?.body ?? ""),
    words,
    seconds: since(message, (hasEnded ? words.at(-1)?.at : undefined) ?? new Date().toISOString()),
    passed: scenario !== undefined && (hasEnded || isLate) ? hasEnded : undefined,
  };
}

const addressOf = ({ message, scenario }: Pick<Entry, "message" | "scenario">): string =>
  message?.to ?? scenario?.to ?? "";

type Followed = Pick<Entry, "message" | "attempts" | "replies">;

function hasPassed(
  { message, attempts, replies }: Followed,
  { ends, reply, ...expected }: Scenario,
): boolean {
  const heard = reply === undefined || replies.some(({ text }) => text.includes(reply));
  return message?.status === ends && attempts === expected.attempts && heard;
}

const since = (message: Message | undefined, at: string): number =>
  message === undefined ? 0 : Math.max(0, Date.parse(at) - Date.parse(message.created_at)) / 1_000;

const short = (text: string): string => (text.length > 20 ? `${text.slice(0, 19)}…` : text);
