import { settingByName, settings } from "../accounts/index.ts";
import { iso, TidingsError, withDeadline } from "../kernel/index.ts";
import type { Health } from "../operations/index.ts";
import type { Clock } from "../ports/index.ts";
import { background, isContended, type Store } from "../store/index.ts";
import { publicError } from "./responses/problem-response.ts";

interface HealthCheckOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Resolves when the storage is open. */
  readonly prepared: () => Promise<unknown>;
}

/**
 * For how long the outcome of a commit counts as proof, in milliseconds. Health checks cause at
 * most one write in this time.
 */
const evidenceMs = 1_000;
/** How long a health check waits for the storage, in milliseconds. */
const healthDeadlineMs = 2_000;

/** Finds out whether commands can be committed. Writes only if no other commit shows it. */
export class HealthCheck {
  readonly #options: HealthCheckOptions;
  #failed: { readonly at: number; readonly health: Health } | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: HealthCheckOptions) {
    this.#options = options;
  }

  async run(): Promise<Health> {
    const { clock } = this.#options;
    if (this.#isEvidence(this.#failed)) return this.#failed.health;
    try {
      await withDeadline(clock, healthDeadlineMs, () => this.#committed(), tooSlow);
      return { status: "ok", reasons: [] };
    } catch (error) {
      const { code, detail: message } = publicError(error);
      const health: Health = { status: "unavailable", reasons: [{ code, message }] };
      this.#failed = { at: clock.now(), health };
      return health;
    }
  }

  /** Resolves if the last commit shows that the storage commits, or after a write. */
  async #committed(): Promise<void> {
    const { store, prepared } = this.#options;
    await prepared();
    const last = store.lastCommit;
    if (!this.#isEvidence(last)) await (this.#writing ??= this.#write());
    else if (last.error !== undefined) throw last.error;
  }

  async #write(): Promise<void> {
    try {
      await this.#options.store.commitUnscoped(async (tx) => {
        const row = await tx.get(settingByName, ["health_checked_at"]);
        const value = iso(tx.now);
        if (row === undefined) tx.insert(settings, { name: "health_checked_at", value });
        else tx.update(settings, row, { value });
      }, background);
    } catch (error) {
      // Other processes wrote this row at the same time, so the storage commits.
      if (!isContended(error)) throw error;
    } finally {
      this.#writing = undefined;
    }
  }

  /** Whether something happened so recently that it still holds. The clock may step back. */
  #isEvidence<T extends { readonly at: number }>(outcome: T | undefined): outcome is T {
    if (outcome === undefined) return false;
    const age = this.#options.clock.now() - outcome.at;
    return age >= 0 && age < evidenceMs;
  }
}

function tooSlow(): never {
  throw new TidingsError(
    "storage_unavailable",
    `The storage did not commit a write within ${healthDeadlineMs / 1_000} s.`,
  );
}
