/** Loads pages of messages into the thread. */
import type { WebchatMessagePage } from "../../../../../src/index.ts";
import type { Session } from "../connection/session.ts";
import type { Thread } from "./thread.ts";

const pageSize = 30;

/** What loading needs of `VisitorApi`. */
interface Requests {
  inSession<T>(work: (session: Session) => Promise<T>): Promise<T>;
  request(session: Session, path: string): Promise<Response>;
}

export class History {
  readonly #api: Requests;
  readonly #thread: Thread;
  #contact: string | undefined;
  #isLoadingOlder = false;

  constructor(api: Requests, thread: Thread) {
    this.#api = api;
    this.#thread = thread;
  }

  /** The contact whose messages the thread has. Undefined until they are loaded. */
  get contact(): string | undefined {
    return this.#contact;
  }

  /**
   * Loads the newest messages. If they belong to another contact than the messages that were shown,
   * drops those and resolves with true.
   */
  async loadNewest(session: Session): Promise<boolean> {
    const { shown } = this.#thread;
    const page = await this.#page(session);
    const isOther = this.#contact !== undefined && this.#contact !== session.contact_id;
    // The host application takes the visitor for another one, or has erased what it knew.
    if (isOther) this.#thread.clear();
    this.#contact = session.contact_id;
    this.#thread.showNewest(page, shown);
    return isOther;
  }

  /**
   * Loads the messages before the earliest one. The thread says meanwhile that there are some, or
   * it would be drawn with the greeting of its beginning.
   */
  async loadOlder(): Promise<void> {
    if (this.#isLoadingOlder) return;
    this.#isLoadingOlder = true;
    // The earliest message may be another one by then. A visitor who is at the beginning cannot
    // scroll there once more.
    while (!(await this.#addOlder()));
    this.#isLoadingOlder = false;
  }

  /** Returns false if the page of earlier messages does not fit any more. */
  async #addOlder(): Promise<boolean> {
    const { older, cuts } = this.#thread;
    if (older === null) return true;
    // After a failure the visitor can ask again.
    const page = await this.#api
      .inSession((session) => this.#page(session, older))
      .catch(() => ({ data: [], next_cursor: older }));
    return this.#thread.addOlder(page, cuts);
  }

  async #page(session: Session, cursor?: string): Promise<WebchatMessagePage> {
    const query = new URLSearchParams({ limit: String(pageSize), ...(cursor && { cursor }) });
    const response = await this.#api.request(session, `messages?${query.toString()}`);
    return (await response.json()) as WebchatMessagePage;
  }
}
