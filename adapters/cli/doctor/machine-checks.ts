import type { Finding } from "./finding.ts";

/** The oldest version of Node that runs the engine (`engines` in package.json). */
const oldest = "22.16";

/** Checks the settings of Node. Every command has refused an older Node before. */
export function checkNode(version: string): Finding {
  const isUnverified = process.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0";
  if (!isUnverified) {
    return { level: "good", topic: "Node", text: `${version} (${oldest} or later)` };
  }
  return {
    level: "doubtful",
    topic: "Node",
    text: `${version}, with NODE_TLS_REJECT_UNAUTHORIZED=0`,
    advice: ["Unset it. The engine verifies certificates anyway, but other requests do not."],
  };
}

/** No clock of a computer in use shows an earlier time. */
const earliest = Date.parse("2026-01-01T00:00:00Z");

/** Checks that the clock shows a plausible time. `checkDatabase` compares it with the data. */
export function checkClock(): Finding {
  const now = Date.now();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const text = `${new Date(now).toISOString()}, ${timeZone}`;
  if (now >= earliest) return { level: "good", topic: "Clock", text };
  return {
    level: "wrong",
    topic: "Clock",
    text: `${text} is in the past`,
    advice: ["Signatures and scheduled messages need the right time. Set the clock, or start NTP."],
  };
}
