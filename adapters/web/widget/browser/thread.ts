/** The messages that are shown, each once and in order of time. */
import type { WebchatMessage, WebchatMessagePage, WebchatState } from "../../../../src/index.ts";

/** Sorts messages. Both parts have a fixed length. */
export const placeOf = ({ created_at, id }: WebchatMessage): string => `${created_at} ${id}`;

/** With more, the next page leaves only the newest. */
export const maxMessages = 1_000;

const noState: WebchatState = { read_at: null, assignee: null };

export class Thread {
  messages: readonly WebchatMessage[] = [];
  /** The number of the last message that came from the visitor's mailbox. */
  number = 0;
  state = noState;
  /** Where earlier messages continue. Null if there are none. */
  older: string | null = null;

  has(id: string): boolean {
    return this.messages.some((each) => each.id === id);
  }

  /** Adds messages. One that is known already is replaced. */
  add(added: readonly WebchatMessage[]): void {
    const byId = new Map([...this.messages, ...added].map((message) => [message.id, message]));
    this.messages = [...byId.values()].toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  }

  /** Adds the page of the newest messages. Drops the known ones if some between are missing. */
  addNewest({ data, next_cursor, last_event_id }: WebchatMessagePage): void {
    const { length } = this.messages;
    const isConnected = next_cursor === null || data.some(({ id }) => this.has(id));
    if (length === 0 || length > maxMessages || !isConnected) {
      this.messages = [];
      this.older = next_cursor;
    }
    this.add(data);
    this.number = Math.max(this.number, Number(last_event_id ?? 0));
  }

  clear(): void {
    this.messages = [];
    this.number = 0;
    this.older = null;
    this.state = noState;
  }
}
