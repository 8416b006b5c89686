/** What customers, visitors and the staff of the shop do in its history. */
import type { Agent, Message, MessagingEngine, SendMessage } from "../../../entry.ts";
import type { VirtualClock } from "../../../testing/simulated/virtual-clock.ts";
import type { Customer, staff } from "./people.ts";

interface ShopOptions {
  readonly engine: MessagingEngine;
  readonly clock: VirtualClock;
  /** The address of this server. */
  readonly url: string;
}

/** The id of one who answers. */
export type Staff = keyof typeof staff;

/** How long the dispatcher waits for work that a jump of the clock made due, in milliseconds. */
const pollMs = 5_000;

export class Shop {
  readonly engine: MessagingEngine;
  readonly url: string;
  readonly #clock: VirtualClock;
  readonly #sessions = new Map<string, string>();
  readonly #conversations = new Map<string, string>();

  constructor({ engine, clock, url }: ShopOptions) {
    this.engine = engine;
    this.url = url;
    this.#clock = clock;
  }

  /**
   * Sets the clock forward to a time and runs the work that is then due. The engine would search
   * for work every few seconds of a real wait.
   */
  async goTo(at: number): Promise<void> {
    const ahead = at - pollMs - this.#clock.now();
    if (ahead > 0) this.#clock.step(ahead);
    await this.#clock.advanceTo(at);
  }

  /** Lets time pass. */
  async wait(seconds: number): Promise<void> {
    await this.#clock.advance(seconds * 1_000);
  }

  /** Returns a time in the future of the history, such as the end of a snooze. */
  inHours(hours: number): string {
    return new Date(this.#clock.now() + hours * 3_600_000).toISOString();
  }

  /** A customer texts the shop, and gets an answer if there is one at once. */
  async text(from: Customer, body: string, picture?: string): Promise<void> {
    const media =
      picture === undefined
        ? {}
        : { media: [{ url: `https://example.com/media/${picture}`, content_type: "image/jpeg" }] };
    const { conversation_id } = await this.engine.sandbox.inbound({
      from: from.phone,
      body,
      ...media,
    });
    this.#conversations.set(from.phone, conversation_id);
    await this.wait(8);
  }

  /** A visitor of the website writes into the chat. The first message opens it. */
  async chat(from: Customer, body: string): Promise<void> {
    let session = this.#sessions.get(from.phone);
    if (session === undefined) {
      const contact = await this.engine.contacts.create({ name: from.name, email: from.email });
      ({ id: session } = await this.engine.webchat.open({ contact_id: contact.id }));
      this.#sessions.set(from.phone, session);
    }
    await this.engine.webchat.sendAsVisitor(session, { body });
    await this.wait(6);
    const { data } = await this.engine.conversations.list({ channel: "webchat", limit: 1 });
    const [latest] = data;
    if (latest === undefined) return;
    this.#conversations.set(from.phone, latest.id);
    const { last_message } = latest;
    if (last_message?.direction === "outbound") {
      await this.engine.webchat.mark(session, { message_id: last_message.id, mark: "read" });
    }
  }

  /** The shop sends a message by itself, such as a notice about an order. */
  send(input: SendMessage): Promise<Message> {
    return this.engine.messages.send(input);
  }

  /** A person of the staff writes first. */
  async write(to: Customer, author_id: Staff, body: string): Promise<void> {
    const { id } = await this.engine.conversations.open({ to: to.phone });
    this.#conversations.set(to.phone, id);
    await this.reply(to, author_id, body);
  }

  /** A person of the staff reads the conversation and replies. */
  async reply(to: Customer, author_id: Staff, body: string): Promise<void> {
    await this.read(to);
    await this.engine.conversations.reply(this.conversation(to), { body, author_id });
    await this.wait(6);
  }

  /** A person of the staff writes a note. */
  async note(about: Customer, author_id: Staff, body: string): Promise<void> {
    await this.engine.conversations.addNote(this.conversation(about), { body, author_id });
  }

  async label(of: Customer, ...labels: readonly string[]): Promise<void> {
    await this.engine.conversations.setLabels(this.conversation(of), labels);
  }

  async assign(of: Customer, id: Staff): Promise<void> {
    await this.engine.conversations.assign(this.conversation(of), { type: "human", id });
  }

  async read(of: Customer): Promise<void> {
    await this.engine.conversations.markRead(this.conversation(of));
  }

  async close(of: Customer): Promise<void> {
    await this.engine.conversations.update(this.conversation(of), { status: "closed" });
  }

  async snooze(of: Customer, hours: number): Promise<void> {
    const snoozed_until = this.inHours(hours);
    await this.engine.conversations.update(this.conversation(of), {
      status: "snoozed",
      snoozed_until,
    });
  }

  async raise(of: Customer, priority: "high" | "urgent"): Promise<void> {
    await this.engine.conversations.update(this.conversation(of), { priority });
  }

  /** A person of the staff records a fact about a customer. */
  async observe(about: Customer, kind: string, content: string): Promise<void> {
    const { contact } = await this.engine.conversations.get(this.conversation(about));
    await this.engine.contacts.addObservation(contact.id, { kind, content, source: "human" });
  }

  /** The shop's agent. */
  async agent(): Promise<Agent["id"] | undefined> {
    const { data } = await this.engine.agents.list({ limit: 1 });
    return data[0]?.id;
  }

  /** Returns the conversation of a customer who has written. */
  conversation({ phone, name }: Customer): string {
    const id = this.#conversations.get(phone);
    if (id === undefined) throw new TypeError(`${name} has not written yet`);
    return id;
  }
}
