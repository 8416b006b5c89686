import { computed, signal } from "@preact/signals";
import { clockOffset } from "../../../shared/browser/index.ts";

const stepMs = 30_000;

const ticks = signal(Date.now());

/** The time in ms, for waiting times and days. It moves every 30 s. */
export const now = computed(() => ticks.value + clockOffset.value);

setInterval(() => {
  ticks.value = Date.now();
}, stepMs);
