import { signal } from "@preact/signals";

const stepMs = 30_000;

/** The time in ms, for waiting times and days. It moves every 30 s. */
export const now = signal(Date.now());

setInterval(() => {
  now.value = Date.now();
}, stepMs);
