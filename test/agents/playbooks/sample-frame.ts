import type { Frame } from "../../../src/agents/playbooks/play/frames.ts";

/** A playbook in progress that has asked its question. */
export const frame: Frame = {
  playbook_id: "pb_1",
  revision: 1,
  step: "ask",
  asked: true,
  tries: 0,
  turns: 0,
  visited: [],
  slots: {},
};
