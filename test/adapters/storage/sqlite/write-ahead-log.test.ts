import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished } from "vitest";
import { SqliteStorage } from "../../../../adapters/storage/sqlite/storage.ts";
import type { Write } from "../../../../src/ports/storage.ts";
import { longTest } from "../../../support/runs.ts";
import { firstSchema, insertNote, noteById } from "../notes.ts";
import { closing, write } from "../port.ts";
import { temporaryFile } from "./files.ts";

/** The size to which the log is shortened. */
const maxLogBytes = 2 ** 25;
const logBytes = (file: string): number => statSync(`${file}-wal`).size;

/** Writes that take a megabyte of the log. */
const megabyte = (name: string): Write[] =>
  Array.from({ length: 20 }, (_, i) => insertNote(`${name}-${i}`, "x".repeat(50_000)));

describe("the length of the write-ahead log", () => {
  longTest(
    "is limited even if each group reads while the thread commits the one before it",
    async () => {
      const file = await temporaryFile();
      const thresholds = { minWrites: 1, minGroups: 0 };
      const port = closing(new SqliteStorage({ file, migrate: true, thresholds }));
      await port.open(firstSchema);
      let longest = 0;
      let committing: void | Promise<void> = undefined;
      for (let i = 0; i < 120; i++) {
        const group = port.begin();
        await group.read([{ index: noteById, key: ["none"], limit: 1 }]);
        await committing;
        committing = group.commit(megabyte(`note${i}`));
        longest = Math.max(longest, logBytes(file));
      }
      await committing;
      expect(longest).toBeLessThan(2 * maxLogBytes);
    },
  );

  longTest(
    "grows while another process reads, and the thread shortens it when that ends",
    async () => {
      const responses: unknown[] = [];
      const note = (thread: Worker): void =>
        void thread.on("message", (response) => void responses.push(response));
      process.on("worker", note);
      onTestFinished(() => void process.off("worker", note));
      const file = await temporaryFile();
      const port = closing(new SqliteStorage({ file, migrate: true }));
      await port.open(firstSchema);
      const reader = new DatabaseSync(file);
      onTestFinished(() => reader.close());
      reader.exec("BEGIN; SELECT * FROM tidings_notes");
      for (let i = 0; i < 40; i++) await write(port, ...megabyte(`note${i}`));
      // The checkpoint of a long log would block the event loop, so even small groups go to the
      // thread.
      let small = 0;
      const commit = async (): Promise<unknown> => {
        await write(port, insertNote(`small${small++}`));
        return responses;
      };
      await expect.poll(commit, { timeout: 60_000 }).toContain("committed");
      expect(logBytes(file)).toBeGreaterThan(maxLogBytes);
      reader.exec("COMMIT");
      for (let i = 0; i < 3; i++) await write(port, insertNote(`more${i}`));
      expect(logBytes(file)).toBeLessThanOrEqual(maxLogBytes);
    },
  );
});
