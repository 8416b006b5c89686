import type { DatabaseView } from "../storages/database-view.ts";
import type { CrashedStorage } from "../storages/storages.ts";

/** The judge's view of the database during a run. It can be closed for a while. */
export class JudgeView implements AsyncDisposable {
  readonly #storage: CrashedStorage;
  #view: DatabaseView | undefined;

  constructor(storage: CrashedStorage) {
    this.#storage = storage;
  }

  /** Opens the view if it is closed. */
  open(): DatabaseView {
    return (this.#view ??= this.#storage.view());
  }

  async close(): Promise<void> {
    await this.#view?.[Symbol.asyncDispose]();
    this.#view = undefined;
  }

  /** Whether an attempt is committed. True while the view is closed, when nobody can know. */
  readonly hasAttempt = async (id: string): Promise<boolean> =>
    (await this.#view?.hasAttempt(id)) ?? true;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
