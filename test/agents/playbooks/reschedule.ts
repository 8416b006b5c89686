import type { PlaybookDefinition } from "../../../src/agents/playbooks/types.ts";
import { definition, slot } from "./support.ts";

/** Moves an appointment to a day and a part of it, when there is room. */
export const reschedule: PlaybookDefinition = definition(
  [
    { id: "greet", type: "send", text: "Hi {{contact.name}}, let's find you another time." },
    { id: "ask_day", type: "ask", slot: "day", retries: 2, on_fail: "people" },
    { id: "ask_part", type: "ask", slot: "part", retries: 1 },
    { id: "ask_notes", type: "ask", slot: "notes", retries: 1 },
    {
      id: "look",
      type: "run",
      action: "find_room",
      args: { day: "{{day}}", part: "{{part}}" },
      on_error: "people",
    },
    { id: "room", type: "branch", cases: [{ when: "look.free == true", next: "ask_sure" }] },
    {
      id: "full",
      type: "send",
      text: "{{day}} is full in the {{part}}. Free then: {{look.parts}}.",
      next: "ask_day",
    },
    { id: "ask_sure", type: "ask", slot: "sure", retries: 1 },
    { id: "is_sure", type: "branch", cases: [{ when: "not sure", next: "ask_day" }] },
    {
      id: "move",
      type: "run",
      action: "move_appointment",
      args: { day: "{{day}}", part: "{{part}}", notes: "{{notes}}" },
    },
    { id: "moved", type: "send", text: "Moved to {{day}}, {{part}}. Your code is {{move.code}}." },
    { id: "end", type: "resolve" },
    { id: "dropped", type: "send", text: "All right, it stays as it is.", next: "end" },
    {
      id: "people",
      type: "handoff",
      reason: "No time was found for {{contact.name}} (day: {{day}}).",
    },
  ],
  [
    slot("day", { type: "date", prompt: "Which day suits you?" }),
    slot("part", { enum: ["morning", "afternoon"], prompt: "Morning or afternoon?" }),
    slot("notes", { required: false, prompt: "Anything that we should know?" }),
    slot("sure", { type: "boolean", prompt: "{{day}} in the {{part}}: shall I book it?" }),
  ],
  {
    name: "Reschedule",
    trigger: { keywords: ["reschedule"], priority: 0 },
    on_cancel: "dropped",
    max_turns: 12,
  },
);
