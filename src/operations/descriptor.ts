import { idempotency } from "./idempotency.ts";
import type { Module } from "./module.ts";

export const operationsModule: Module = {
  collections: [idempotency],
};
