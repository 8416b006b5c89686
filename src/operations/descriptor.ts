import { idempotency } from "./execution/rows.ts";
import type { Module } from "./module.ts";

export const operationsModule: Module = {
  collections: [idempotency],
};
