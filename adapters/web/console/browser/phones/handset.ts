/** One phone on screen: its contact and its messages. */
import { signal } from "@preact/signals";
import type { Contact, Event, Message, Page } from "../../../../../src/index.ts";
import { api, may, Repetition } from "../../../shared/browser/index.ts";
import { coalesced } from "../live.ts";

const maxMessages = 60;

/** Who sends the typed text: the phone, or the account to the phone. */
export type Side = "phone" | "account";
const refreshDelayMs = 80;

/** A phone that texts with the account in its sandbox. */
export class Handset {
  readonly number: string;
  /** The messages, oldest first. Undefined until they are loaded. */
  readonly messages = signal<readonly Message[] | undefined>(undefined);
  /** The contact with the number. Null while there is none. */
  readonly contact = signal<Contact | null>(null);
  /** Why the last load failed. */
  readonly error = signal<unknown>(undefined);
  /** What is typed and not sent. It outlives the page, as the phone does. */
  readonly draft = signal("");
  readonly side = signal<Side>("phone");
  /** Reads the messages again soon. */
  readonly refresh: () => void;
  private readonly repetition = new Repetition();

  constructor(number: string) {
    this.number = number;
    this.refresh = coalesced(() => this.load(), refreshDelayMs).start;
  }

  /** Reads the messages again if the event is about this phone. */
  observe(event: Event): void {
    if (event.type === "contact.erased" && event.data.contact_id === this.contact.peek()?.id) {
      // The server has removed the messages. A load that is under way may have read them before
      // that: it is ignored, since the messages have changed.
      this.messages.value = [];
      this.refresh();
    }
    if (numberOf(event) === this.number || this.isRedacted(event)) this.refresh();
  }

  /** Whether the event says that a message of this phone has lost its text. */
  private isRedacted({ type, data }: Event): boolean {
    if (type !== "message.redacted") return false;
    return this.messages.peek()?.some(({ id }) => id === data.message_id) === true;
  }

  /** Shows a message that the page just sent. */
  put(message: Message): void {
    const before = this.messages.peek() ?? [];
    const others = before.filter(({ id }) => id !== message.id);
    this.messages.value = [...others, message].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.refresh();
  }

  private async load(): Promise<void> {
    const shown = this.messages.peek();
    try {
      const { data } = await api.get<Page<Contact>>("v1/contacts", {
        query: { phone: this.number, limit: 1 },
      });
      const contact = data[0] ?? null;
      this.contact.value = contact;
      const messages = contact === null ? [] : await this.messagesOf(contact);
      // They may lack a message that `put` has added meanwhile. It has asked for another load.
      if (this.messages.peek() !== shown) return;
      this.messages.value = messages;
      this.error.value = undefined;
      this.repetition.noteSuccess();
    } catch (error) {
      this.error.value = error;
      this.repetition.noteFailure(error, this.refresh);
    }
  }

  private async messagesOf({ id }: Contact): Promise<readonly Message[]> {
    const { data } = await api.get<Page<Message>>("v1/messages", {
      query: { contact_id: id, limit: maxMessages },
    });
    return data.filter(({ from, to }) => from === this.number || to === this.number).toReversed();
  }

  /** Sends a text from this phone to the account. */
  async text(body: string, key: string): Promise<void> {
    this.put(await api.post<Message>("v1/sandbox/inbound", { from: this.number, body }, { key }));
  }

  /** Sends a message from the account to this phone. */
  async receive(body: string, key: string): Promise<void> {
    this.put(await api.post<Message>("v1/messages", { to: this.number, body }, { key }));
  }
}

/** Whether the person may send messages from the account. */
export const canSend = (): boolean => may("messages:write");

/** The phone number that an event is about. */
function numberOf({ type, data }: Event): string | undefined {
  switch (type) {
    case "message.received":
    case "contact.opted_in":
    case "contact.opted_out":
      return "phone" in data.contact ? (data.contact.phone ?? undefined) : undefined;
    case "message.sent":
    case "message.failed":
    case "message.updated":
      return data.to;
    case "contact.created":
    case "contact.updated":
      return data.contact.phone ?? undefined;
    default:
      return undefined;
  }
}
